//! What a trace may have: a line of a few bytes can name requests of any size, and what is made of them takes memory.

/// The most bytes of a read or a write: what one request of Linux's block layer can have (`bi_size` has 32 bits), and more than
/// one system call takes. Discards and syncs may cover whole devices; nothing is kept of their bytes.
pub(crate) const REQUEST_BYTES_MAX: u64 = u32::MAX as u64;

/// The longest line of any format is far shorter; what is longer is no text.
pub(crate) const LINE_BYTES_MAX: usize = 64 << 10;

/// Memory that the statistics of a page take, while the table that they are in is made larger.
pub const PAGE_STATISTICS_BYTES: u64 = 100;
