//! Reading in the caller's thread, beside the store's own.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use nandle_io::{Buffer, BufferMut, DeviceFile};

use super::index::{Found, PageIndex};
use crate::{BLOCK_BYTES, PageNumber, Stats};

/// Counters that threads which read other pages mostly don't share.
const COUNTERS: u64 = 16;

/// Reads pages whose place the [index](super::index) knows.
pub(super) struct Reader {
    file: Arc<DeviceFile>,
    index: Arc<PageIndex>,
    page_bytes: u64,
    counters: Box<[Counter]>,
}

/// Reads that were done here, in a cache line of its own.
#[derive(Default)]
#[repr(align(64))]
struct Counter {
    device_reads: AtomicU64,
    pages_read: AtomicU64,
}

/// What came of a read.
pub(super) enum Outcome {
    Read(Buffer),
    /// It is the store's thread's to do, and this memory wasn't of use.
    AskOwner(BufferMut),
}

impl Reader {
    pub(super) fn new(file: Arc<DeviceFile>, index: Arc<PageIndex>, page_bytes: usize) -> Self {
        let counters = (0..COUNTERS).map(|_| Counter::default()).collect();
        Self { file, index, page_bytes: page_bytes as u64, counters }
    }

    /// Reads a page, if it is where it is said to be.
    pub(super) fn read(&self, page: PageNumber, into: BufferMut) -> Outcome {
        debug_assert_eq!(into.len() as u64, self.page_bytes, "memory for {page}");
        let Some(era) = self.index.era() else { return Outcome::AskOwner(into) };
        let found = self.index.find(page);
        let offset_bytes = match found {
            Found::Untouched { offset_bytes } => offset_bytes,
            Found::At(place) => place.offset_bytes,
            Found::AskOwner => return Outcome::AskOwner(into),
        };
        debug_assert!(
            offset_bytes.is_multiple_of(BLOCK_BYTES as u64),
            "{page} begins at {offset_bytes}, inside a block"
        );
        let counter = self.counter(page);
        counter.device_reads.fetch_add(1, Ordering::Relaxed);
        let (buffer, result) = self.file.read_at(offset_bytes, into);
        if result.is_err() || !self.index.confirms(era, page, found, &buffer) {
            return Outcome::AskOwner(buffer);
        }
        counter.pages_read.fetch_add(1, Ordering::Relaxed);
        Outcome::Read(buffer.freeze())
    }

    fn counter(&self, page: PageNumber) -> &Counter {
        let counter = usize::try_from(page.0 % COUNTERS).ok().and_then(|nth| self.counters.get(nth));
        counter.unwrap_or_else(|| unreachable!("as many counters as there can be remainders"))
    }

    /// Adds what was read here.
    pub(super) fn count(&self, stats: &mut Stats) {
        for counter in &self.counters {
            let reads = counter.device_reads.load(Ordering::Relaxed);
            stats.device_reads += reads;
            stats.device_read_bytes += reads * self.page_bytes;
            stats.pages_read += counter.pages_read.load(Ordering::Relaxed);
        }
    }
}
