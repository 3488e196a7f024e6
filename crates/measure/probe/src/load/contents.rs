use nandle_io::BufferMut;

/// Incompressible test contents that can be recomputed at any offset. Each eight bytes are a
/// function of a seed and the offset (`SplitMix64`), so any read can be checked without storing the
/// data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Contents {
    seed: u64,
}

const WORD_BYTES: u64 = 8;

impl Contents {
    /// Contents derived from `seed`.
    pub fn new(seed: u64) -> Self {
        Self { seed }
    }

    /// Fills a buffer with the contents at `offset_bytes`, a multiple of 8.
    pub fn fill(self, offset_bytes: u64, bytes: &mut [u8]) {
        let first = offset_bytes / WORD_BYTES;
        for (index, word) in (first..).zip(bytes.chunks_mut(8)) {
            let value = self.word(index).to_le_bytes();
            for (to, from) in word.iter_mut().zip(value) {
                *to = from;
            }
        }
    }

    /// Returns true if the first and last eight bytes of a read are correct. This detects a block
    /// from another address, an unwritten block and a short read, at negligible cost.
    pub fn matches_ends(self, offset_bytes: u64, read: &BufferMut) -> bool {
        let last = read.len().saturating_sub(8);
        let begins = read.iter().zip(self.eight(offset_bytes)).all(|(got, expected)| *got == expected);
        let end = read.iter().skip(last);
        begins && end.zip(self.eight(offset_bytes + last as u64)).all(|(got, expected)| *got == expected)
    }

    /// The eight bytes at `offset_bytes`, which need not be a multiple of 8.
    fn eight(self, offset_bytes: u64) -> [u8; 8] {
        let index = offset_bytes / WORD_BYTES;
        let skipped_bits = offset_bytes % WORD_BYTES * 8;
        if skipped_bits == 0 {
            return self.word(index).to_le_bytes();
        }
        (self.word(index) >> skipped_bits | self.word(index + 1) << (64 - skipped_bits)).to_le_bytes()
    }

    fn word(self, index: u64) -> u64 {
        let mut z = self.seed.wrapping_add(index.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}
