//! Page contents that identify the page and its version, so that they can be verified.
//!
//! The first part of a page is noise that identifies it. The rest is zeros, which compress to
//! almost nothing, like the free space of an engine's pages.

/// Increment of `SplitMix64` (Steele, Lea, Flood, OOPSLA 2014).
const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

fn mix(mut word: u64) -> u64 {
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

/// Noise words that are unique to a page and version.
fn words(page: u64, version: u32) -> impl Iterator<Item = u64> {
    let start = mix(page.wrapping_mul(GAMMA)) ^ mix(u64::from(version) | 1 << 63);
    (1_u64..).map(move |index| mix(start.wrapping_add(index.wrapping_mul(GAMMA))))
}

/// Fills memory with reproducible incompressible bytes.
pub(crate) fn fill_noise(bytes: &mut [u8]) {
    Contents { compressible_percent: 0 }.fill(bytes, 0, 0);
}

/// Minimum length of the noise that identifies a page, in bytes.
const NOISE_BYTES_LEAST: usize = 16;

/// Composition of page contents.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Contents {
    /// Share of a page that compresses to almost nothing, in percent.
    pub(crate) compressible_percent: u8,
}

impl Contents {
    /// Fills a page.
    pub(crate) fn fill(self, bytes: &mut [u8], page: u64, version: u32) {
        let (noise, zeros) = bytes.split_at_mut(self.noise_bytes(bytes.len()));
        for (word, into) in words(page, version).zip(noise.chunks_mut(8)) {
            let length = into.len();
            into.copy_from_slice(word.to_le_bytes().get(..length).unwrap_or_default());
        }
        zeros.fill(0);
    }

    /// Returns true if a page holds this version.
    pub(crate) fn holds(self, bytes: &[u8], page: u64, version: u32) -> bool {
        let (noise, zeros) = bytes.split_at(self.noise_bytes(bytes.len()));
        let mut words = words(page, version).zip(noise.chunks(8));
        words.all(|(word, got)| word.to_le_bytes().starts_with(got)) && zeros.iter().all(|byte| *byte == 0)
    }

    fn noise_bytes(self, length: usize) -> usize {
        let zeros = length * usize::from(self.compressible_percent.min(100)) / 100;
        (length - zeros).max(NOISE_BYTES_LEAST).min(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_and_versions_are_distinguishable() {
        for compressible_percent in [0, 30, 50, 100] {
            let contents = Contents { compressible_percent };
            let mut bytes = [1; 4096];
            contents.fill(&mut bytes, 7, 2);
            assert!(contents.holds(&bytes, 7, 2));
            assert!(!contents.holds(&bytes, 7, 3) && !contents.holds(&bytes, 8, 2));
            bytes[4000] ^= 1;
            assert!(!contents.holds(&bytes, 7, 2));
        }
    }

    #[test]
    fn compressible_part_is_zeros() {
        let zeros = |compressible_percent| {
            let mut bytes = [1; 4096];
            Contents { compressible_percent }.fill(&mut bytes, 7, 2);
            bytes.iter().map(|byte| u32::from(*byte == 0)).sum::<u32>()
        };
        assert!(zeros(0) < 40, "{}", zeros(0));
        assert!((2048..2090).contains(&zeros(50)), "{}", zeros(50));
        assert!(zeros(100) < 4096);
    }
}
