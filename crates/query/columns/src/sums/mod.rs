//! `N.sums`: checksums of a Parquet file, which has none of its own.
//!
//! ```text
//! bytes  0..8    "NANDSUM1"
//!        8..16   length of a block, 4096
//!       16..24   identity of the Parquet file
//!       24..32   length of the Parquet file in bytes
//!       32..     a checksum of four bytes per block; the last block ends with the file
//!       last 4   CRC32C of everything before
//! ```
//!
//! Numbers are little-endian. The checksum of block B is the CRC32C of identity (8 bytes), B (8
//! bytes) and the block's bytes. So it also detects a block from another place or another file.
//! Each file of a table has a unique identity, and so does each version of a file. A manifest
//! contains the CRC32C of the checksums file.

mod check;
mod write;

pub(crate) use self::check::BLOCK_LENGTH;
pub use self::check::{BLOCK_BYTES, SumMismatch, Sums};
pub(crate) use self::write::{SummingWriter, sum_file};

const MAGIC: [u8; 8] = *b"NANDSUM1";
const HEADER_BYTES: usize = 32;

fn block_sum(identity: u64, block: u64, bytes: &[u8]) -> u32 {
    let mut bound = [0; 16];
    bound[..8].copy_from_slice(&identity.to_le_bytes());
    bound[8..].copy_from_slice(&block.to_le_bytes());
    nandle_units::extend_checksum(nandle_units::checksum(&bound), bytes)
}
