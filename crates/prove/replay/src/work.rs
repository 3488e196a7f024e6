use std::ops::Range;

use nandle_trace::{Operation, PageFit, Record, TraceError, ZoneTranslator};

use crate::addresses::{Addresses, Compaction};
use crate::{ReplayError, fold};

/// Page operations of a trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Work {
    /// Length of a page, in bytes.
    pub page_bytes: usize,
    /// Pages that a store needs: up to the highest page written.
    pub pages: u64,
    /// Page writes of one pass.
    pub page_writes: u64,
    /// Number of passes over the steps; at least one.
    pub passes: u32,
    /// Share of the store's pages written before the first step, in percent.
    pub fill_percent: u8,
    /// Events of the trace that aren't replayed: reads.
    pub passed_over: u64,
    /// True if addresses were folded.
    pub wrapped: bool,
    /// Result of compacting the trace's addresses; `None` if they were kept.
    pub compacted: Option<CompactionFigures>,
    /// Fit of the trace's writes to the pages.
    pub fit: PageFit,
    pub(crate) steps: Vec<Step>,
}

/// Result of compacting a trace's addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompactionFigures {
    /// Length of an area, in bytes.
    pub area_bytes: u64,
    /// Number of written areas, which are now adjacent.
    pub areas: u64,
    /// Bytes before and between the areas, which were omitted.
    pub left_out_bytes: u64,
}

/// A step of the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Writes new contents to `pages` pages from `page` on, in one batch if the store accepts it.
    Write {
        /// First page.
        page: u64,
        /// Number of pages.
        pages: u32,
    },
    /// Discards `pages` pages from `page` on.
    Discard {
        /// First page.
        page: u64,
        /// Number of pages.
        pages: u32,
    },
    /// Makes all earlier steps durable.
    Sync,
}

/// Options for converting a trace.
#[derive(Debug, Clone, Copy)]
pub struct WorkOptions {
    /// Length of a page, in bytes.
    pub page_bytes: usize,
    /// Maximum number of writes.
    pub limit: Option<u64>,
    /// Mapping of addresses.
    pub addresses: Addresses,
}

impl Work {
    /// Reads a trace. A write that covers part of a page writes the whole page. Requests of zoned
    /// devices are translated for a conventional drive.
    ///
    /// Takes 16 bytes of memory per event, and as much again for each write while addresses are
    /// compacted.
    ///
    /// # Errors
    ///
    /// The trace can't be read, or has no writes.
    pub fn read(
        records: impl Iterator<Item = Result<Record, TraceError>>,
        options: WorkOptions,
    ) -> Result<Self, ReplayError> {
        let mut work = Self {
            page_bytes: options.page_bytes,
            pages: 0,
            page_writes: 0,
            passes: 1,
            fill_percent: 0,
            passed_over: 0,
            wrapped: false,
            compacted: None,
            fit: PageFit::new(options.page_bytes as u64),
            steps: Vec::new(),
        };
        for record in ZoneTranslator::over(records) {
            let record = record?;
            let is_write = record.operation.is_write();
            if is_write && options.limit.is_some_and(|limit| work.fit.writes() >= limit) {
                break;
            }
            work.fit.add(&record);
            work.add(&record);
        }
        if let Addresses::Compact { area_bytes } = options.addresses {
            work.compact(area_bytes);
        }
        work.trim_discards();
        if work.page_writes == 0 { Err(ReplayError::NoWrites) } else { Ok(work) }
    }

    /// Steps in order.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Page writes of all passes.
    pub fn all_page_writes(&self) -> u64 {
        self.page_writes.saturating_mul(u64::from(self.passes.max(1)))
    }

    /// Pages written before the first step, from the start of the store.
    pub fn filled_pages(&self) -> u64 {
        // For the largest stores, the product exceeds 64 bits.
        let filled = u128::from(self.pages) * u128::from(self.fill_percent.min(100)) / 100;
        u64::try_from(filled).unwrap_or(self.pages)
    }

    /// Maximum number of pages with contents at the end.
    pub fn pages_held_max(&self) -> u64 {
        self.page_writes.saturating_add(self.filled_pages()).min(self.pages)
    }

    /// Bytes of pages that a store needs.
    pub fn needed_bytes(&self) -> u64 {
        self.pages.saturating_mul(self.page_bytes as u64)
    }

    /// Folds pages beyond `pages_max` back into the store.
    ///
    /// # Errors
    ///
    /// The store is too small to fold into.
    pub fn wrap(&mut self, pages_max: u64) -> Result<(), ReplayError> {
        if self.pages <= pages_max {
            return Ok(());
        }
        fold::check(self, pages_max)?;
        self.steps = fold::steps(&self.steps, pages_max);
        self.pages = self.end_of_writes();
        self.trim_discards();
        self.wrapped = true;
        debug_assert!(self.pages <= pages_max, "folded pages lie in the store");
        Ok(())
    }

    fn add(&mut self, record: &Record) {
        let page_bytes = self.page_bytes as u64;
        match record.operation {
            Operation::Read => self.passed_over += 1,
            Operation::Sync => self.steps.push(Step::Sync),
            Operation::ZoneFinish | Operation::ZoneOpen | Operation::ZoneClose => {}
            Operation::Write | Operation::Append => {
                let touched = record.pages(page_bytes);
                self.pages = self.pages.max(touched.end);
                self.page_writes += touched.end - touched.start;
                self.steps.extend(pieces(touched).map(|(page, pages)| Step::Write { page, pages }));
            }
            Operation::Discard | Operation::ZoneReset => {
                let whole = discarded(record, page_bytes);
                self.steps.extend(pieces(whole).map(|(page, pages)| Step::Discard { page, pages }));
            }
        }
    }

    fn compact(&mut self, area_bytes: u64) {
        let area_pages = (area_bytes / self.page_bytes as u64).max(1);
        let written = self.steps.iter().filter_map(|step| match step {
            Step::Write { page, pages } => Some(*page..page + u64::from(*pages)),
            Step::Discard { .. } | Step::Sync => None,
        });
        let compaction = Compaction::of(written, area_pages);
        for step in &mut self.steps {
            match step {
                Step::Write { page, .. } => *page = compaction.place(*page),
                Step::Discard { page, pages } => {
                    // A discard shrinks by the areas that were omitted.
                    let end = compaction.place(*page + u64::from(*pages));
                    *page = compaction.place(*page);
                    debug_assert!(end >= *page, "places keep the order");
                    *pages = u32::try_from(end - *page)
                        .unwrap_or_else(|_| unreachable!("compaction makes no discard longer"));
                }
                Step::Sync => {}
            }
        }
        self.pages = self.end_of_writes();
        self.compacted = Some(CompactionFigures {
            area_bytes: area_pages * self.page_bytes as u64,
            areas: compaction.areas(),
            left_out_bytes: compaction.left_out_pages().saturating_mul(self.page_bytes as u64),
        });
    }

    fn end_of_writes(&self) -> u64 {
        let ends = self.steps.iter().map(|step| match step {
            Step::Write { page, pages } => page + u64::from(*pages),
            Step::Discard { .. } | Step::Sync => 0,
        });
        ends.max().unwrap_or(0)
    }

    /// Drops discards beyond the last written page, because kernels discard whole file systems.
    fn trim_discards(&mut self) {
        let written = self.pages;
        self.steps.retain_mut(|step| {
            let Step::Discard { page, pages } = step else { return true };
            let Some(left) = written.checked_sub(*page) else { return false };
            // A remainder beyond 32 bits doesn't limit the step.
            *pages = u32::try_from(left).map_or(*pages, |left| left.min(*pages));
            *pages > 0
        });
    }
}

/// Pages that lie completely in an event; partial pages are still needed.
fn discarded(record: &Record, page_bytes: u64) -> Range<u64> {
    let start = record.address.div_ceil(page_bytes);
    // A short event may contain no whole page.
    let end = (record.address.saturating_add(record.length_bytes) / page_bytes).max(start);
    start..end
}

/// Converts a range to a first page and a 32-bit count. A write never exceeds the count, but a
/// discard may: its rest is dropped.
fn pieces(pages: Range<u64>) -> impl Iterator<Item = (u64, u32)> {
    debug_assert!(pages.start <= pages.end, "a range of pages has an order");
    let count = u32::try_from(pages.end - pages.start).unwrap_or(u32::MAX);
    (count > 0).then_some((pages.start, count)).into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPTIONS: WorkOptions = WorkOptions { page_bytes: 4096, limit: None, addresses: Addresses::Keep };
    const COMPACT: WorkOptions =
        WorkOptions { addresses: Addresses::Compact { area_bytes: 1 << 20 }, ..OPTIONS };

    fn record(operation: Operation, address: u64, length_bytes: u64) -> Record {
        Record { time_us: 0, operation, address, length_bytes, latency_ns: None }
    }

    fn work(records: &[Record], options: WorkOptions) -> Result<Work, ReplayError> {
        Work::read(records.iter().copied().map(Ok), options)
    }

    #[test]
    fn writes_become_pages_and_syncs_stay() {
        let records = [
            record(Operation::Write, 4096, 8192),
            record(Operation::Sync, 0, 0),
            record(Operation::Read, 0, 4096),
            record(Operation::Write, 100, 200),
            record(Operation::Discard, 8192, 4096),
        ];
        let work = work(&records, OPTIONS).unwrap();
        let expected = [
            Step::Write { page: 1, pages: 2 },
            Step::Sync,
            Step::Write { page: 0, pages: 1 },
            Step::Discard { page: 2, pages: 1 },
        ];
        assert_eq!(work.steps(), expected);
        assert_eq!((work.pages, work.page_writes, work.passed_over), (3, 3, 1));
        assert_eq!((work.fit.writes(), work.fit.unaligned()), (2, 1));
    }

    #[test]
    fn discard_covers_whole_written_pages() {
        let records = [
            record(Operation::Discard, 100, 3 * 4096),
            record(Operation::Discard, 1 << 40, 1 << 40),
            record(Operation::Discard, 0, 1 << 45),
            record(Operation::Write, 9 * 4096, 4096),
        ];
        for options in [OPTIONS, COMPACT] {
            let work = work(&records, options).unwrap();
            let expected = [
                Step::Discard { page: 1, pages: 2 },
                Step::Discard { page: 0, pages: 10 },
                Step::Write { page: 9, pages: 1 },
            ];
            assert_eq!((work.steps(), work.pages), (&expected[..], 10));
        }
        let records = [record(Operation::Write, 0, 4096), record(Operation::Discard, 4095 * 4096 + 512, 512)];
        let without = work(&records, OPTIONS).unwrap();
        assert_eq!(without.steps().len(), 1, "no page lies in the discard as a whole");
    }

    #[test]
    fn unwritten_areas_are_omitted() {
        let area = 1 << 20;
        let records = [
            record(Operation::Write, 900_000 * area + 4096, 8192),
            record(Operation::Write, 7 * area, 4096),
            record(Operation::Discard, 3 * area, 900_000 * area),
            record(Operation::Write, 900_001 * area, 4096),
        ];
        let compact = work(&records, COMPACT).unwrap();
        let expected = [
            Step::Write { page: 257, pages: 2 },
            Step::Write { page: 0, pages: 1 },
            Step::Discard { page: 0, pages: 513 },
            Step::Write { page: 512, pages: 1 },
        ];
        assert_eq!((compact.steps(), compact.pages), (&expected[..], 513));
        let told = CompactionFigures { area_bytes: area, areas: 3, left_out_bytes: (900_000 - 1) * area };
        assert_eq!(compact.compacted, Some(told));
        let kept = work(&records, OPTIONS).unwrap();
        assert_eq!((kept.pages, kept.compacted), (900_001 * 256 + 1, None));
    }

    #[test]
    fn limit_ends_before_the_next_write() {
        let records = [Operation::Write, Operation::Sync, Operation::Write].map(|op| record(op, 0, 4096));
        let work = work(&records, WorkOptions { limit: Some(1), ..OPTIONS }).unwrap();
        assert_eq!(work.steps(), [Step::Write { page: 0, pages: 1 }, Step::Sync]);
    }

    #[test]
    fn addresses_beyond_the_store_are_folded() {
        let records =
            [record(Operation::Write, 2047 * 4096, 8192), record(Operation::Write, 3000 * 4096, 4096)];
        let mut folded = work(&records, OPTIONS).unwrap();
        let error = folded.wrap(3).unwrap_err();
        assert!(matches!(error, ReplayError::TargetTooSmall { room_bytes: 12_288, .. }), "{error}");
        folded.wrap(2048).unwrap();
        let expected = [(2047, 1), (0, 1), (952, 1)].map(|(page, pages)| Step::Write { page, pages });
        assert_eq!(folded.steps(), expected);
        assert!(folded.wrapped && folded.pages == 2048);
        let mut fits = work(&records, OPTIONS).unwrap();
        fits.wrap(3001).unwrap();
        assert!(!fits.wrapped && fits.pages == 3001);
    }

    #[test]
    fn folded_discards_lie_in_the_store() {
        let records = [
            record(Operation::Discard, 2000 * 4096, 10 * 4096),
            record(Operation::Write, 3010 * 4096, 4096),
            record(Operation::Discard, 960 * 4096, 100 * 4096),
        ];
        let mut folded = work(&records, OPTIONS).unwrap();
        folded.wrap(2048).unwrap();
        assert_eq!(folded.pages, 963);
        let expected = [Step::Write { page: 962, pages: 1 }, Step::Discard { page: 960, pages: 3 }];
        assert_eq!(folded.steps(), expected);
    }

    #[test]
    fn nothing_to_write_is_an_error() {
        let error = work(&[record(Operation::Sync, 0, 0)], OPTIONS).unwrap_err();
        assert!(matches!(error, ReplayError::NoWrites));
    }
}
