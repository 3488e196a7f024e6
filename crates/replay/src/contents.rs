//! What is written: contents that say which page and which version of it they are, so that they can be checked.

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

/// Fills a page.
pub(crate) fn fill(bytes: &mut [u8], page: u64, version: u32) {
    for (word, into) in words(page, version).zip(bytes.chunks_mut(8)) {
        let length = into.len();
        into.copy_from_slice(word.to_le_bytes().get(..length).unwrap_or_default());
    }
}

/// Whether a page holds that version.
pub(crate) fn holds(bytes: &[u8], page: u64, version: u32) -> bool {
    words(page, version).zip(bytes.chunks(8)).all(|(word, got)| word.to_le_bytes().starts_with(got))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_and_version_is_told_from_every_other() {
        let mut bytes = [0; 4096];
        fill(&mut bytes, 7, 2);
        assert!(holds(&bytes, 7, 2));
        assert!(!holds(&bytes, 7, 3) && !holds(&bytes, 8, 2));
        bytes[4000] ^= 1;
        assert!(!holds(&bytes, 7, 2));
    }
}
