//! Places of pages, for threads that read without the store's thread.
//!
//! The store's thread publishes the places, and readers look them up without waiting. A place may
//! be outdated by the time of the read: the page may have been destaged and its slot reused. A read
//! therefore counts only if
//! - its checksum is the published one, which proves that the page held these contents at the
//!   lookup, wherever it is now; or
//! - the page was unwritten since the store's opening, and still was after the read. The store's
//!   thread marks a page before it accepts a batch with it, and therefore before any of the batch
//!   reaches the device.
//!
//! All other reads go to the store's thread, whose reply is authoritative. It publishes nothing
//! about a page while a batch with it is in progress. A read that begins after a batch was
//! acknowledged therefore returns that batch or a later one, and an outdated place costs only time.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{OnceLock, PoisonError, RwLock};

use rustc_hash::FxHashMap;

use crate::PageNumber;
use crate::home::Place;
use crate::page::checksum;
use crate::size::to_u32;

const CHUNK_PAGES: u64 = 1024;
/// Number of locks for pages away from home.
const SHARDS: u64 = 64;

/// See the [module](self).
pub(super) struct PageIndex {
    /// Offset of page 0's home place; `None` if the policy has no home places.
    homes_offset_bytes: Option<u64>,
    page_bytes: u64,
    /// A word per page, in chunks allocated when the first of their pages changes. Segment *n* has
    /// 2<sup>*n*</sup> chunks, so that the number of pages can grow.
    segments: [OnceLock<Segment>; u64::BITS as usize],
    /// Places of the pages whose word says `ELSEWHERE`.
    elsewhere: Box<[RwLock<FxHashMap<PageNumber, Place>>]>,
    /// Odd while no read counts.
    era: AtomicU64,
}

/// Period in which a store is open, between failures that stop it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Era(u64);

/// Value after the last era.
const CLOSED: u64 = u64::MAX;

type Segment = Box<[OnceLock<Chunk>]>;
type Chunk = Box<[AtomicU64]>;

/// Result of a lookup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    /// At home, and unwritten since the opening: its checksum is unknown.
    Untouched { offset_bytes: u64 },
    /// At this place, if the checksum matches.
    At(Place),
    /// Known only to the store's thread.
    AskOwner,
}

/// Words of pages. The lower half of a word is the checksum of a page at home.
mod word {
    pub(super) const UNTOUCHED: u64 = 0;
    pub(super) const ASK_OWNER: u64 = 1 << 32;
    pub(super) const AT_HOME: u64 = 2 << 32;
    pub(super) const ELSEWHERE: u64 = 3 << 32;
}

impl PageIndex {
    /// Index of a store with all pages at home, until pages are [put](PageIndex::put) or
    /// [forgotten](PageIndex::forget).
    pub(super) fn new(page_bytes: usize, homes_offset_bytes: Option<u64>) -> Self {
        Self {
            homes_offset_bytes,
            page_bytes: page_bytes as u64,
            segments: [const { OnceLock::new() }; u64::BITS as usize],
            elsewhere: (0..SHARDS).map(|_| RwLock::default()).collect(),
            era: AtomicU64::new(0),
        }
    }

    /// Era of a read that begins now; `None` if reads don't count.
    pub(super) fn era(&self) -> Option<Era> {
        let era = self.era.load(Ordering::SeqCst);
        era.is_multiple_of(2).then_some(Era(era))
    }

    /// Last published place of a page.
    pub(super) fn find(&self, page: PageNumber) -> Found {
        let word = self.load(page);
        match word & !u64::from(u32::MAX) {
            word::UNTOUCHED => {
                self.home_of(page).map_or(Found::AskOwner, |offset_bytes| Found::Untouched { offset_bytes })
            }
            word::AT_HOME => self.home_of(page).map_or(Found::AskOwner, |offset_bytes| {
                Found::At(Place { offset_bytes, stored_bytes: to_u32(self.page_bytes), sum: low_half(word) })
            }),
            word::ELSEWHERE => self.shard(page).read().map_or(Found::AskOwner, |places| {
                places.get(&page).map_or(Found::AskOwner, |place| Found::At(*place))
            }),
            other => {
                debug_assert_eq!(other, word::ASK_OWNER, "a word of {page}");
                Found::AskOwner
            }
        }
    }

    /// Returns true if the contents read are those of the page at some time since the lookup, in
    /// the same era.
    pub(super) fn confirms(&self, era: Era, page: PageNumber, found: Found, contents: &[u8]) -> bool {
        let is_the_pages = match found {
            Found::Untouched { .. } => self.load(page) == word::UNTOUCHED,
            Found::At(place) => checksum(page, contents) == place.sum,
            Found::AskOwner => false,
        };
        is_the_pages && self.era() == Some(era)
    }

    /// Directs reads of a page to the store's thread.
    pub(super) fn forget(&self, page: PageNumber) {
        let before = self.word(page).swap(word::ASK_OWNER, Ordering::SeqCst);
        if before == word::ELSEWHERE {
            let place = self.shard(page).write().unwrap_or_else(PoisonError::into_inner).remove(&page);
            debug_assert!(place.is_some(), "{page} is elsewhere, and nothing says where");
        }
    }

    /// Publishes a place. The store's thread calls it, after it [forgot](PageIndex::forget) the
    /// page at its write.
    pub(super) fn put(&self, page: PageNumber, place: Place) {
        self.forget(page);
        let word = if self.home_of(page) == Some(place.offset_bytes) {
            word::AT_HOME | u64::from(place.sum)
        } else {
            let other = self.shard(page).write().unwrap_or_else(PoisonError::into_inner).insert(page, place);
            debug_assert_eq!(other, None, "{page} was forgotten, and its place with it");
            word::ELSEWHERE
        };
        self.word(page).store(word, Ordering::SeqCst);
    }

    /// Ends all reads. The file may later belong to another store.
    pub(super) fn close(&self) {
        self.era.store(CLOSED, Ordering::SeqCst);
    }

    /// Ends reads until the next era, after a failure stopped the store.
    pub(super) fn stop(&self) {
        if let Some(Era(era)) = self.era() {
            self.era.store(era + 1, Ordering::SeqCst);
        }
    }

    /// Begins an era after the store was reopened. Reads of written pages go to the store's thread
    /// until these are published again.
    pub(super) fn begin_era(&self) {
        let era = self.era.load(Ordering::SeqCst);
        debug_assert!(era % 2 == 1 && era != CLOSED, "era {era} ends before the next begins");
        for (page, word) in self.words() {
            if word != word::UNTOUCHED {
                self.forget(page);
            }
        }
        self.era.store(era + 1, Ordering::SeqCst);
    }

    /// All allocated words.
    fn words(&self) -> impl Iterator<Item = (PageNumber, u64)> {
        let segments = (0_u32..).zip(&self.segments).filter_map(|(n, segment)| Some((n, segment.get()?)));
        let chunks = segments.flat_map(|(n, segment)| (1_u64 << n..).zip(segment.iter()));
        let chunks = chunks.filter_map(|(number, chunk)| Some((number - 1, chunk.get()?)));
        chunks.flat_map(|(number, chunk)| {
            let pages = (number * CHUNK_PAGES..).map(PageNumber);
            pages.zip(chunk.iter().map(|word| word.load(Ordering::SeqCst)))
        })
    }

    fn home_of(&self, page: PageNumber) -> Option<u64> {
        self.homes_offset_bytes.map(|first| first + page.0 * self.page_bytes)
    }

    fn shard(&self, page: PageNumber) -> &RwLock<FxHashMap<PageNumber, Place>> {
        let shard = usize::try_from(page.0 % SHARDS).ok().and_then(|shard| self.elsewhere.get(shard));
        shard.unwrap_or_else(|| unreachable!("as many shards as there can be remainders"))
    }

    fn load(&self, page: PageNumber) -> u64 {
        let (segment, place) = place_of_chunk(page);
        let segment = self.segments.get(segment).and_then(OnceLock::get);
        let chunk = segment.and_then(|segment| segment.get(place)).and_then(OnceLock::get);
        chunk
            .and_then(|chunk| chunk.get(place_in_chunk(page)))
            .map_or(word::UNTOUCHED, |word| word.load(Ordering::SeqCst))
    }

    fn word(&self, page: PageNumber) -> &AtomicU64 {
        let new_chunk = || (0..CHUNK_PAGES).map(|_| AtomicU64::new(word::UNTOUCHED)).collect();
        let (segment, place) = place_of_chunk(page);
        let new_segment = || (0..1_u64 << segment).map(|_| OnceLock::new()).collect();
        let segment = self.segments.get(segment).map(|segment| segment.get_or_init(new_segment));
        let chunk = segment.and_then(|segment| segment.get(place)).map(|chunk| chunk.get_or_init(new_chunk));
        let word = chunk.and_then(|chunk| chunk.get(place_in_chunk(page)));
        word.unwrap_or_else(|| unreachable!("{page} has a segment, a chunk and a word"))
    }
}

/// Segment of a page's chunk, and its index there.
fn place_of_chunk(page: PageNumber) -> (usize, usize) {
    let number = page.0 / CHUNK_PAGES + 1;
    let segment = number.ilog2();
    let place = number - (1 << segment);
    debug_assert!(place < 1 << segment, "segment {segment} has no chunk {place}");
    (segment as usize, in_memory(place))
}

fn place_in_chunk(page: PageNumber) -> usize {
    in_memory(page.0 % CHUNK_PAGES)
}

fn in_memory(place: u64) -> usize {
    usize::try_from(place).unwrap_or_else(|_| unreachable!("place {place} is in memory"))
}

fn low_half(word: u64) -> u32 {
    u32::try_from(word & u64::from(u32::MAX)).unwrap_or_else(|_| unreachable!("half of a word"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOME_BYTES: u64 = 1 << 20;

    fn index() -> PageIndex {
        PageIndex::new(4096, Some(HOME_BYTES))
    }

    fn place(offset_bytes: u64, sum: u32) -> Place {
        Place { offset_bytes, stored_bytes: 4096, sum }
    }

    #[test]
    fn a_page_is_at_home_until_it_is_written() {
        let index = index();
        let untouched = Found::Untouched { offset_bytes: HOME_BYTES + 4999 * 4096 };
        assert_eq!(index.find(PageNumber(4999)), untouched);
        index.forget(PageNumber(4999));
        assert_eq!(index.find(PageNumber(4999)), Found::AskOwner);
    }

    #[test]
    fn a_read_counts_when_nothing_came_in_between_or_the_checksum_is_right() {
        let (index, page) = (index(), PageNumber(3));
        let (found, era) = (index.find(page), index.era().unwrap());
        assert!(index.confirms(era, page, found, b"anything"));
        index.forget(page);
        assert!(!index.confirms(era, page, found, b"anything"), "a batch with the page has come meanwhile");
        let found = Found::At(place(0, checksum(page, b"this")));
        assert!(index.confirms(era, page, found, b"this") && !index.confirms(era, page, found, b"that"));
        index.close();
        assert!(!index.confirms(era, page, found, b"this"), "the file may be another store's");
        assert_eq!(index.era(), None);
    }

    #[test]
    fn no_read_counts_in_two_eras() {
        let (index, page) = (index(), PageNumber(5000));
        index.put(page, place(8192, checksum(page, b"this")));
        let (found, era) = (index.find(page), index.era().unwrap());
        index.stop();
        assert_eq!(index.era(), None);
        assert!(!index.confirms(era, page, found, b"this"), "the store has stopped");
        index.begin_era();
        assert!(!index.confirms(era, page, found, b"this"), "the read began before the store stopped");
        assert_eq!(index.find(page), Found::AskOwner, "where it is now isn't known yet");
        assert!(matches!(index.find(PageNumber(4999)), Found::Untouched { .. }));
    }

    #[test]
    fn what_is_put_is_found_until_it_is_forgotten() {
        let (index, page) = (index(), PageNumber(3));
        let home = place(HOME_BYTES + 3 * 4096, u32::MAX);
        let slot = place(8192, 0);
        let packed = Place { offset_bytes: 8192 + 77, stored_bytes: 1234, sum: 5 };
        for place in [home, slot, packed, home, slot] {
            index.put(page, place);
            assert_eq!(index.find(page), Found::At(place));
        }
        index.forget(page);
        assert_eq!(index.find(page), Found::AskOwner);
        assert!(index.elsewhere.iter().all(|shard| shard.read().unwrap().is_empty()));
    }

    #[test]
    fn every_page_has_a_word_of_its_own() {
        let index = index();
        let pages = [0, 1, 1023, 1024, 3071, 3072, 5000, 1 << 20, 1 << 30].map(PageNumber);
        for (sum, page) in (0..).zip(pages) {
            index.put(page, place(HOME_BYTES + page.0 * 4096, sum));
        }
        for (expected, page) in (0..).zip(pages) {
            assert!(matches!(index.find(page), Found::At(Place { sum, .. }) if sum == expected), "{page}");
        }
        assert!(matches!(index.find(PageNumber(2048)), Found::Untouched { .. }));
    }

    #[test]
    fn without_homes_only_what_is_put_is_found() {
        let (index, page) = (PageIndex::new(4096, None), PageNumber(1));
        let place = place(0, checksum(page, b"this"));
        index.put(page, place);
        assert_eq!(index.find(page), Found::At(place));
        assert!(!index.confirms(index.era().unwrap(), page, Found::At(place), b"another page's by now"));
        assert_eq!(index.find(PageNumber(2)), Found::AskOwner);
        index.forget(page);
        assert_eq!(index.find(page), Found::AskOwner);
    }
}
