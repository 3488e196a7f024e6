//! Measures how a trace uses a store: the properties that decide which policy is fastest.

use rustc_hash::FxHashMap;

use crate::{Durability, Step, Work};

/// Pages per word of a bitmap.
const WORD_PAGES: u64 = u64::BITS as u64;

/// Usage of a store.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StoreUsage {
    /// Share of pages written before the trace begins, in percent.
    pub fill_percent: u8,
    /// Share of pages with contents at the end, in percent.
    pub living_percent: u8,
    /// Mean pages of a write.
    pub batch_pages: f64,
    /// Mean pages between two syncs; `None` if nothing must be durable before the end.
    pub sync_pages: Option<f64>,
}

impl Work {
    /// Computes the store usage of this work for a durability.
    ///
    /// Takes up to 32 bytes of memory for each group of 64 pages with a write.
    pub fn usage(&self, durability: Durability) -> StoreUsage {
        let batch_pages = self.batch_pages_mean();
        let living = u128::from(self.living_pages()) * 100 / u128::from(self.pages.max(1));
        StoreUsage {
            fill_percent: self.fill_percent.min(100),
            living_percent: u8::try_from(living).unwrap_or(100),
            batch_pages,
            sync_pages: match durability {
                Durability::Each => Some(batch_pages),
                Durability::Trace => self.sync_pages_mean(),
                Durability::None => None,
            },
        }
    }

    fn batch_pages_mean(&self) -> f64 {
        let writes = self.steps().iter().filter(|step| matches!(step, Step::Write { .. })).count();
        self.page_writes as f64 / writes.max(1) as f64
    }

    /// Mean pages between syncs that have something to make durable.
    fn sync_pages_mean(&self) -> Option<f64> {
        let (mut syncs, mut has_unsynced) = (0_u64, false);
        for step in self.steps() {
            match step {
                Step::Write { .. } => has_unsynced = true,
                Step::Sync => syncs += u64::from(std::mem::take(&mut has_unsynced)),
                Step::Discard { .. } => {}
            }
        }
        (syncs > 0).then(|| self.page_writes as f64 / syncs as f64)
    }

    /// Pages with contents: the filled pages, and those written beyond them. Discarded pages count,
    /// too, because they last until the end of the pass at least.
    fn living_pages(&self) -> u64 {
        let filled = self.filled_pages();
        let mut written: FxHashMap<u64, u64> = FxHashMap::default();
        for step in self.steps() {
            let Step::Write { page, pages } = step else { continue };
            for page in (*page).max(filled)..page + u64::from(*pages) {
                *written.entry(page / WORD_PAGES).or_default() |= 1 << (page % WORD_PAGES);
            }
        }
        filled + written.values().map(|word| u64::from(word.count_ones())).sum::<u64>()
    }
}

#[cfg(test)]
mod tests {
    use nandle_trace::{Operation, Record};

    use super::*;
    use crate::{Addresses, WorkOptions};

    #[test]
    fn usage_has_means_and_the_final_share_of_living_pages() {
        let record = |operation, address, length_bytes| {
            Ok(Record { time_us: 0, operation, address, length_bytes, latency_ns: None })
        };
        let records = [
            record(Operation::Sync, 0, 0),
            record(Operation::Write, 0, 8192),
            record(Operation::Sync, 0, 0),
            record(Operation::Sync, 0, 0),
            record(Operation::Write, 9 * 4096, 4096),
            record(Operation::Write, 9 * 4096, 4096),
            record(Operation::Sync, 0, 0),
        ];
        let options = WorkOptions { page_bytes: 4096, limit: None, addresses: Addresses::Keep };
        let mut work = Work::read(records.into_iter(), options).unwrap();
        work.fill_percent = 50;
        let expected = StoreUsage {
            fill_percent: 50,
            living_percent: 60,
            batch_pages: 4.0 / 3.0,
            sync_pages: Some(2.0),
        };
        assert_eq!(work.usage(Durability::Trace), expected);
        assert_eq!(work.usage(Durability::None).sync_pages, None);
        assert_eq!(work.usage(Durability::Each).sync_pages, Some(4.0 / 3.0));
    }
}
