//! Limits of a trace. A line of a few bytes can name requests of any size, and processing them
//! takes memory.

/// Maximum length of a read or write, in bytes. It is the limit of a request in Linux's block layer
/// (`bi_size` has 32 bits), and more than a system call can transfer. Discards and syncs may cover
/// whole devices, because nothing is stored per byte.
pub(crate) const REQUEST_BYTES_MAX: u64 = u32::MAX as u64;

/// Maximum length of a line, in bytes. Lines of all formats are far shorter; a longer one is binary
/// data.
pub(crate) const LINE_BYTES_MAX: usize = 64 << 10;

/// Peak memory of the statistics per page, in bytes, while their table grows.
pub const PAGE_STATISTICS_BYTES: u64 = 100;
