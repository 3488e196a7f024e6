use nandle_io::BufferMut;

/// Incompressible contents that can be recomputed for any place: each eight bytes of a file are a function of a
/// seed and of their offset (the `SplitMix64` sequence), so that a read from anywhere can be checked without
/// keeping what was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Contents {
    seed: u64,
}

const WORD_BYTES: u64 = 8;

impl Contents {
    /// The contents of a seed.
    pub fn new(seed: u64) -> Self {
        Self { seed }
    }

    /// Fills a buffer with what belongs at `offset_bytes`, a multiple of 8.
    pub fn fill(self, offset_bytes: u64, bytes: &mut [u8]) {
        let first = offset_bytes / WORD_BYTES;
        for (index, word) in (first..).zip(bytes.chunks_mut(8)) {
            let value = self.word(index).to_le_bytes();
            for (to, from) in word.iter_mut().zip(value) {
                *to = from;
            }
        }
    }

    /// Whether the first and the last eight bytes of a read are what belongs there: enough to notice a block from
    /// another address, an unwritten one, or one that is cut short, at no cost that a measurement would feel.
    pub fn matches_ends(self, offset_bytes: u64, read: &BufferMut) -> bool {
        self.matches_ends_of(offset_bytes, read)
    }

    fn matches_ends_of(self, offset_bytes: u64, read: &[u8]) -> bool {
        let length = read.len().min(size_of::<u64>());
        let is_right =
            |at: usize| read.get(at..at + length) == self.eight_bytes(offset_bytes + at as u64).get(..length);
        is_right(0) && is_right(read.len() - length)
    }

    /// What belongs at `offset_bytes`, which buffered requests may choose as they like.
    fn eight_bytes(self, offset_bytes: u64) -> [u8; 8] {
        let (first, shift_bits) = (offset_bytes / WORD_BYTES, offset_bytes % WORD_BYTES * 8);
        let low = self.word(first) >> shift_bits;
        let high = match shift_bits {
            0 => 0,
            _ => self.word(first.wrapping_add(1)) << (64 - shift_bits),
        };
        (low | high).to_le_bytes()
    }

    fn word(self, index: u64) -> u64 {
        let mut z = self.seed.wrapping_add(index.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_belongs_at_any_place_is_known_again() {
        let contents = Contents::new(7);
        let mut file = vec![0; 4096];
        contents.fill(0, &mut file);
        for (offset, length) in [(0, 4096), (8, 16), (3, 1000), (4089, 7), (4095, 1), (1, 8), (5, 9)] {
            let read = &mut file[offset..offset + length];
            assert!(contents.matches_ends_of(offset as u64, read), "{length} bytes at {offset}");
            assert!(!contents.matches_ends_of(offset as u64 + 1, read), "{length} bytes at {offset}");
            read[length - 1] ^= 1;
            assert!(!contents.matches_ends_of(offset as u64, read), "{length} bytes at {offset}");
            read[length - 1] ^= 1;
        }
    }
}
