//! What a modelled device stores. Contents know no time: the world calls them when a request completes.

use std::collections::BTreeMap;
use std::sync::Arc;

use nandle_io::Durability;

/// What is stored on a device. Ranges lie within its capacity.
pub trait Contents {
    /// Fills `into` with what is stored from `offset_bytes` on.
    fn read(&mut self, offset_bytes: u64, into: &mut [u8]);
    /// Stores `from` at `offset_bytes`; what is durable would survive a power cut from now on.
    fn write(&mut self, offset_bytes: u64, from: &[u8], durability: Durability);
    /// Everything written before would now survive a power cut.
    fn flush(&mut self);
    /// The range holds anything until it is written again.
    fn discard(&mut self, offset_bytes: u64, length_bytes: u64);
}

/// Keeps nothing: a read leaves its memory as it was. For runs that only want timing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoContents;

impl Contents for NoContents {
    fn read(&mut self, _offset_bytes: u64, _into: &mut [u8]) {}
    fn write(&mut self, _offset_bytes: u64, _from: &[u8], _durability: Durability) {}
    fn flush(&mut self) {}
    fn discard(&mut self, _offset_bytes: u64, _length_bytes: u64) {}
}

const PAGE_BYTES: usize = 4096;

/// Pages of 4 KiB in memory, made when they are first written; what was never written reads as zeros. A clone shares
/// the pages until one of the two writes to them.
#[derive(Debug, Clone, Default)]
pub struct SparsePages {
    pages: BTreeMap<u64, Arc<[u8; PAGE_BYTES]>>,
}

impl SparsePages {
    /// Pages that were written and not discarded.
    pub fn pages(&self) -> usize {
        self.pages.len()
    }
}

impl Contents for SparsePages {
    fn read(&mut self, offset_bytes: u64, mut into: &mut [u8]) {
        for part in parts(offset_bytes, into.len()) {
            let (piece, rest) = into.split_at_mut(part.length.min(into.len()));
            match self.pages.get(&part.page).and_then(|page| page.get(part.start..part.start + part.length)) {
                Some(stored) => piece.copy_from_slice(stored),
                None => piece.fill(0),
            }
            into = rest;
        }
    }

    fn write(&mut self, offset_bytes: u64, mut from: &[u8], _durability: Durability) {
        for part in parts(offset_bytes, from.len()) {
            let (piece, rest) = from.split_at(part.length.min(from.len()));
            let page = self.pages.entry(part.page).or_insert_with(|| Arc::new([0; PAGE_BYTES]));
            if let Some(stored) = Arc::make_mut(page).get_mut(part.start..part.start + part.length) {
                stored.copy_from_slice(piece);
            }
            from = rest;
        }
    }

    fn flush(&mut self) {}

    fn discard(&mut self, offset_bytes: u64, length_bytes: u64) {
        // Only whole pages are given back; what a discarded range reads as is open.
        let page_bytes = PAGE_BYTES as u64;
        let (first, end) =
            (offset_bytes.div_ceil(page_bytes), offset_bytes.saturating_add(length_bytes) / page_bytes);
        if first < end {
            let mut inside = self.pages.split_off(&first);
            self.pages.append(&mut inside.split_off(&end));
        }
    }
}

/// A part of a range that lies within one page.
struct Part {
    page: u64,
    start: usize,
    length: usize,
}

fn parts(offset_bytes: u64, length_bytes: usize) -> impl Iterator<Item = Part> {
    let page_bytes = PAGE_BYTES as u64;
    let (mut at, end) = (offset_bytes, offset_bytes + length_bytes as u64);
    std::iter::from_fn(move || {
        let start = usize::try_from(at % page_bytes).ok()?;
        let length = usize::try_from(end - at).ok()?.min(PAGE_BYTES - start);
        let part = Part { page: at / page_bytes, start, length };
        at += length as u64;
        (length > 0).then_some(part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_across_pages_read_back_and_clones_part() {
        let mut pages = SparsePages::default();
        let bytes: Vec<u8> = (0..10_000_u32).map(|at| (at % 251) as u8).collect();
        pages.write(1_000, &bytes, Durability::Volatile);
        let mut image = pages.clone();
        pages.discard(0, 8_192);
        pages.write(5_000, &[7; 10], Durability::Durable);
        let mut read = vec![1; 12_000];
        image.read(0, &mut read);
        assert!(read[..1_000].iter().chain(&read[11_000..]).all(|byte| *byte == 0));
        assert_eq!(read[1_000..11_000], bytes);
        assert_eq!((pages.pages(), image.pages()), (2, 3));
    }
}
