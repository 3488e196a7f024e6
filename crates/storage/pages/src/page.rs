use std::fmt;

use crate::defects::Defect;

/// Length and alignment of the store's own blocks. Pages are multiples of it.
pub const BLOCK_BYTES: usize = 4096;

/// Number of a page in its store, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PageNumber(pub u64);

impl PageNumber {
    /// Page with the store's [header](crate::Batch::set_header), in errors and in reads of many
    /// pages.
    pub const HEADER: Self = Self(u64::MAX);
}

/// Length of the store's header for its user.
pub const HEADER_BYTES: usize = 128;

impl fmt::Display for PageNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::HEADER { f.write_str("the header") } else { write!(f, "page {}", self.0) }
    }
}

/// Checksum of a page: CRC32C of its number and contents, which detects misplaced pages.
pub(crate) fn checksum(page: PageNumber, bytes: &[u8]) -> u32 {
    let bytes = if Defect::PartialChecksum.is_seeded() { bytes.get(..512).unwrap_or(bytes) } else { bytes };
    nandle_units::extend_checksum(nandle_units::checksum(&page.0.to_le_bytes()), bytes)
}
