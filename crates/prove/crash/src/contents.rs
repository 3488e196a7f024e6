//! Contents of pages. Each 8-byte word encodes its page, version and position, which reveals torn,
//! misplaced or wrongly assembled pages.

use std::fmt;

use nandle_pages::{HEADER_BYTES, PageError, PageNumber, Store};

/// Granularity of torn writes.
const GRAIN_BYTES: usize = 512;
/// Value that distinguishes the header from pages.
const HEADER_WORD: u64 = 0xffff;

/// Contents found in a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    /// One whole version; 0 means zeros, a page never written.
    Whole(u64),
    /// Anything else.
    Other,
    /// No contents: salvage calls the page empty. It was never written to this store, or was
    /// discarded.
    Nothing,
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(0) => f.write_str("zeros"),
            Self::Whole(version) => write!(f, "version {version}"),
            Self::Other => f.write_str("no whole version of it"),
            Self::Nothing => f.write_str("nothing"),
        }
    }
}

/// Word number `nth` of a grain. Odd versions are incompressible except for the first word of each
/// grain, which is never scrambled.
fn word(page: u64, version: u64, grain: usize, nth: usize) -> u64 {
    let plain = version << 32 | page << 16 | grain as u64;
    if nth == 0 || version.is_multiple_of(2) {
        return plain;
    }
    let mixed = (plain ^ (nth as u64) << 56).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ mixed >> 31).wrapping_mul(0x94d0_49bb_1331_11eb)
}

/// Writes a version (at least 1, below 2³²) of a page (below 2¹⁶).
pub(crate) fn fill(buffer: &mut [u8], page: u64, version: u64) {
    for (grain, part) in buffer.chunks_mut(GRAIN_BYTES).enumerate() {
        for (nth, chunk) in part.chunks_exact_mut(8).enumerate() {
            chunk.copy_from_slice(&word(page, version, grain, nth).to_le_bytes());
        }
    }
}

/// Reads and checks a page or the header.
pub(crate) async fn read(store: &Store, page: PageNumber) -> Result<Found, PageError> {
    if page == PageNumber::HEADER {
        return Ok(inspect_page(&store.header().await?, page));
    }
    Ok(inspect_page(&store.read(page).await?, page))
}

/// Checks a page, or the header at the start of its page.
pub(crate) fn inspect_page(contents: &[u8], page: PageNumber) -> Found {
    if page == PageNumber::HEADER {
        let (header, behind) = contents.split_at(HEADER_BYTES);
        let found = inspect(header, HEADER_WORD);
        return if behind.iter().all(|byte| *byte == 0) { found } else { Found::Other };
    }
    inspect(contents, page.0)
}

/// Contents of a version of the header.
pub(crate) fn header(version: u64) -> [u8; HEADER_BYTES] {
    let mut header = [0; HEADER_BYTES];
    fill(&mut header, HEADER_WORD, version);
    header
}

/// Checks a page.
pub(crate) fn inspect(contents: &[u8], page: u64) -> Found {
    let first = contents.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
    let version = first >> 32;
    let is_whole = contents.chunks(GRAIN_BYTES).enumerate().all(|(grain, part)| {
        part.chunks_exact(8).enumerate().all(|(nth, chunk)| {
            let word = if first == 0 { 0 } else { word(page, version, grain, nth) };
            chunk == word.to_le_bytes()
        })
    });
    if is_whole { Found::Whole(version) } else { fixture_version(contents, page) }
}

/// Lower bound of the versions in fixtures, above all others.
pub(crate) const FIXTURE_VERSIONS: u64 = 1 << 32;
/// Number of versions in a fixture.
const FIXTURE_VERSIONS_MAX: u64 = 30;

/// Word that fills a page of a fixture.
fn fixture_word(page: u64, version: u64) -> u64 {
    page << 32 | version
}

/// Writes a version of a page in the form that fixtures use.
pub(crate) fn fill_as_fixture(buffer: &mut [u8], page: u64, version: u64) {
    buffer
        .chunks_exact_mut(8)
        .for_each(|chunk| chunk.copy_from_slice(&fixture_word(page, version).to_le_bytes()));
}

fn fixture_version(contents: &[u8], page: u64) -> Found {
    let word = contents.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
    let version = word.wrapping_sub(fixture_word(page, 0));
    let is_known = (1..=FIXTURE_VERSIONS_MAX).contains(&version);
    let is_whole = contents.chunks(8).all(|chunk| chunk == word.to_le_bytes());
    if is_known && is_whole { Found::Whole(FIXTURE_VERSIONS + version) } else { Found::Other }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_of_a_fixture_is_told_from_all_others() {
        let mut contents = vec![0; 4096];
        fill_as_fixture(&mut contents, 7, 30);
        assert_eq!(inspect(&contents, 7), Found::Whole(FIXTURE_VERSIONS + 30));
        assert_eq!(inspect(&contents, 8), Found::Other, "it is another's");
        contents[4095] ^= 1;
        assert_eq!(inspect(&contents, 7), Found::Other, "it is torn");
    }

    #[test]
    fn a_page_is_whole_or_it_is_not() {
        let (mut old, mut new) = (vec![0; 4096], vec![0; 4096]);
        assert_eq!(inspect(&old, 7), Found::Whole(0));
        fill(&mut old, 7, 1);
        fill(&mut new, 7, 2);
        assert_eq!((inspect(&old, 7), inspect(&new, 7)), (Found::Whole(1), Found::Whole(2)));
        assert_eq!(inspect(&old, 8), Found::Other, "it is another's");
        new.rotate_left(GRAIN_BYTES);
        assert_eq!(inspect(&new, 7), Found::Other, "its parts are in the wrong order");
        new.rotate_right(GRAIN_BYTES);
        new[3584..].copy_from_slice(&old[3584..]);
        assert_eq!(inspect(&new, 7), Found::Other, "it is torn");
        assert_eq!(inspect(&[0xAB; 4096], 7), Found::Other);
    }
}
