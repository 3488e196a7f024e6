//! What is written: contents that say which page and which version of it they are, so that they can be checked.
//!
//! The first part of a page is noise, by which it is known; the rest is zeros, which any compression makes nearly nothing
//! of. An engine's pages have such a part where they aren't full.

/// Multiplier of `SplitMix64`'s sequence (Steele, Lea, Flood, OOPSLA 2014).
const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

fn mix(mut word: u64) -> u64 {
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

/// Words that no other page, and no other version of this one, has.
fn words(page: u64, version: u32) -> impl Iterator<Item = u64> {
    let start = mix(page.wrapping_mul(GAMMA)) ^ mix(u64::from(version) | 1 << 63);
    (1_u64..).map(move |index| mix(start.wrapping_add(index.wrapping_mul(GAMMA))))
}

/// Fills memory with what compresses to nothing, the same every time.
pub(crate) fn fill_noise(bytes: &mut [u8]) {
    Contents { compressible_percent: 0 }.fill(bytes, 0, 0);
}

/// As much noise as it takes to know a page by.
const NOISE_BYTES_LEAST: usize = 16;

/// How pages are filled.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Contents {
    /// The part that compresses to nothing, in percent.
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

    /// Whether a page holds that version.
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
    fn every_page_and_version_is_told_from_every_other() {
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
    fn the_part_that_compresses_is_zeros_and_the_rest_is_not() {
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
