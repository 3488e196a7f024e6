use super::{HEADER_BYTES, MAGIC, block_sum};
use crate::{ColumnsError, Place};

/// Length of the block that a checksum covers.
pub const BLOCK_BYTES: u64 = 4096;

/// [`BLOCK_BYTES`] as a `usize`.
pub(crate) const BLOCK_LENGTH: usize = 4096;

/// Checksums of a file, in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sums {
    identity: u64,
    length_bytes: u64,
    blocks: Vec<u32>,
}

/// A block with a wrong checksum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "the block at {offset_bytes} has the sum {got:08x}, and {expected:08x} was written: it is damaged, stale or of another place"
)]
pub struct SumMismatch {
    /// Offset of the block.
    pub offset_bytes: u64,
    /// Checksum of the bytes read.
    pub got: u32,
    /// Checksum of the bytes written.
    pub expected: u32,
}

impl Sums {
    pub(super) const fn new(identity: u64, length_bytes: u64, blocks: Vec<u32>) -> Self {
        Self { identity, length_bytes, blocks }
    }

    /// Parses a file of checksums.
    ///
    /// # Errors
    /// It is damaged, or isn't such a file.
    pub fn parse(name: &str, bytes: &[u8]) -> Result<Self, ColumnsError> {
        let damaged = |why: &str| ColumnsError::damaged(&Place::of_file(name), why);
        let cut = || damaged("it is shorter than a file of sums");
        let (body, sum) = bytes.split_last_chunk::<4>().ok_or_else(cut)?;
        if nandle_units::checksum(body) != u32::from_le_bytes(*sum) {
            return Err(damaged("its own checksum is wrong"));
        }
        let (header, sums) = body.split_first_chunk::<HEADER_BYTES>().ok_or_else(cut)?;
        let number = |from: usize| {
            header.get(from..).and_then(|rest| rest.first_chunk()).copied().map(u64::from_le_bytes)
        };
        let (Some(block_bytes), Some(identity), Some(length_bytes)) = (number(8), number(16), number(24))
        else {
            return Err(cut());
        };
        if !header.starts_with(&MAGIC) || block_bytes != BLOCK_BYTES {
            return Err(damaged("it is no file of sums of a version that is known"));
        }
        let (blocks, rest) = sums.as_chunks::<4>();
        if !rest.is_empty() || blocks.len() as u64 != length_bytes.div_ceil(BLOCK_BYTES) {
            return Err(damaged("it has not as many sums as its file has blocks"));
        }
        Ok(Self::new(identity, length_bytes, blocks.iter().map(|sum| u32::from_le_bytes(*sum)).collect()))
    }

    /// Length of the checksums file of a file.
    pub(crate) const fn encoded_bytes(length_bytes: u64) -> u64 {
        // Checksums, header and trailing checksum.
        HEADER_BYTES as u64 + 4 * length_bytes.div_ceil(BLOCK_BYTES) + 4
    }

    /// Encodes as a file of checksums.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(BLOCK_BYTES.to_le_bytes());
        bytes.extend(self.identity.to_le_bytes());
        bytes.extend(self.length_bytes.to_le_bytes());
        bytes.extend(self.blocks.iter().flat_map(|sum| sum.to_le_bytes()));
        bytes.extend(nandle_units::checksum(&bytes).to_le_bytes());
        bytes
    }

    /// Identity of the file.
    pub const fn identity(&self) -> u64 {
        self.identity
    }

    /// Length of the file.
    pub const fn length_bytes(&self) -> u64 {
        self.length_bytes
    }

    /// Verifies bytes read from `offset_bytes`, a multiple of [`BLOCK_BYTES`]: whole blocks, the
    /// last one up to the end of the file.
    ///
    /// # Errors
    /// The first damaged block.
    ///
    /// # Panics
    /// The bytes aren't whole blocks, so that some couldn't be verified.
    pub fn check(&self, offset_bytes: u64, bytes: &[u8]) -> Result<(), SumMismatch> {
        let end = offset_bytes + bytes.len() as u64;
        assert!(
            offset_bytes.is_multiple_of(BLOCK_BYTES),
            "a check begins with a block, not at {offset_bytes}"
        );
        assert!(
            end.is_multiple_of(BLOCK_BYTES) || end == self.length_bytes,
            "a check ends with a block, not at {end}"
        );
        let first = offset_bytes / BLOCK_BYTES;
        for (block, bytes) in (first..).zip(bytes.chunks(BLOCK_LENGTH)) {
            let got = block_sum(self.identity, block, bytes);
            let expected = usize::try_from(block).ok().and_then(|block| self.blocks.get(block)).copied();
            if expected != Some(got) {
                let expected = expected.unwrap_or_default();
                return Err(SumMismatch { offset_bytes: block * BLOCK_BYTES, got, expected });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sums::SummingWriter;
    use std::io::Write;

    fn sums(identity: u64, bytes: &[u8]) -> Sums {
        let mut writer = SummingWriter::new(Vec::new(), identity);
        bytes.chunks(777).for_each(|piece| writer.write_all(piece).unwrap());
        writer.finish().1
    }

    fn content(bytes: usize) -> Vec<u8> {
        (0..bytes).map(|at| u8::try_from(at / 7 % 251).unwrap()).collect()
    }

    #[test]
    fn every_flipped_byte_is_found() {
        let bytes = content(3 * 4096 + 100);
        let sums = sums(5, &bytes);
        assert_eq!(sums.check(0, &bytes), Ok(()));
        assert_eq!(sums.check(8192, &bytes[8192..]), Ok(()));
        for at in (0..bytes.len()).step_by(997) {
            let mut flipped = bytes.clone();
            flipped[at] ^= 4;
            let found = sums.check(0, &flipped).unwrap_err();
            assert_eq!(found.offset_bytes, at as u64 / 4096 * 4096);
        }
    }

    #[test]
    fn equal_blocks_of_other_places_and_files_are_found() {
        let bytes = vec![7; 8192];
        let one = sums(1, &bytes);
        assert_ne!(one.blocks[0], one.blocks[1]);
        assert_ne!(one.blocks, sums(2, &bytes).blocks);
    }

    #[test]
    fn the_format_is_the_specified_one() {
        let encoded = sums(0x0102_0304_0506_0708, b"abc").encode();
        assert_eq!(encoded.len(), 32 + 4 + 4);
        assert_eq!(&encoded[..16], b"NANDSUM1\0\x10\0\0\0\0\0\0");
        assert_eq!(&encoded[16..32], &[8, 7, 6, 5, 4, 3, 2, 1, 3, 0, 0, 0, 0, 0, 0, 0]);
        let bound = [&encoded[16..24], &[0; 8], b"abc"].concat();
        assert_eq!(&encoded[32..36], &crc32c::crc32c(&bound).to_le_bytes());
    }

    #[test]
    fn damaged_sums_are_refused() {
        let encoded = sums(9, &content(10_000)).encode();
        assert_eq!(Sums::parse("x", &encoded).unwrap().length_bytes(), 10_000);
        for cut in 0..encoded.len() {
            assert!(Sums::parse("x", &encoded[..cut]).is_err());
            let mut flipped = encoded.clone();
            flipped[cut] ^= 1;
            assert!(Sums::parse("x", &flipped).is_err());
        }
    }
}
