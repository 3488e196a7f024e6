use rustc_hash::FxHashMap;

use crate::PageNumber;

const CHUNK_PAGES: u64 = 1024;

/// Known checksums of home pages: four bytes per page, in chunks allocated for their first known
/// page. 0 means unknown.
#[derive(Debug, Default)]
pub(crate) struct Sums {
    chunks: FxHashMap<u64, Box<[u32]>>,
}

impl Sums {
    pub(crate) fn get(&self, page: PageNumber) -> Option<u32> {
        let chunk = self.chunks.get(&(page.0 / CHUNK_PAGES))?;
        chunk.get(place(page)).copied().filter(|sum| *sum != 0)
    }

    /// A checksum of 0 isn't stored, so one page in 2³² isn't checked.
    pub(crate) fn set(&mut self, page: PageNumber, sum: u32) {
        let chunk = self.chunks.entry(page.0 / CHUNK_PAGES);
        let chunk = chunk.or_insert_with(|| vec![0; place(PageNumber(CHUNK_PAGES - 1)) + 1].into());
        *entry(chunk, page) = sum;
    }

    pub(crate) fn forget(&mut self, page: PageNumber) {
        // Pages without a chunk are unknown.
        if let Some(chunk) = self.chunks.get_mut(&(page.0 / CHUNK_PAGES)) {
            *entry(chunk, page) = 0;
        }
    }

    /// All pages with a checksum.
    pub(crate) fn pages(&self) -> Vec<PageNumber> {
        let chunks = self.chunks.iter();
        let known = chunks.flat_map(|(chunk, sums)| {
            let numbers = (chunk * CHUNK_PAGES..).zip(sums.iter());
            numbers.filter(|(_, sum)| **sum != 0).map(|(page, _)| PageNumber(page))
        });
        let mut pages: Vec<_> = known.collect();
        pages.sort_unstable();
        pages
    }
}

fn entry(chunk: &mut [u32], page: PageNumber) -> &mut u32 {
    chunk.get_mut(place(page)).unwrap_or_else(|| unreachable!("a chunk has a place for {page}"))
}

fn place(page: PageNumber) -> usize {
    usize::try_from(page.0 % CHUNK_PAGES).unwrap_or_else(|_| unreachable!("a chunk's places are few"))
}
