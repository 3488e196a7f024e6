use nandle_trace::{Operation, PageFit, Record, TraceError};

use crate::ReplayError;

/// The most pages that one write of a trace may have.
const WRITE_PAGES_MAX: u64 = 1024;

/// What a trace asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Work {
    /// Length of a page.
    pub page_bytes: usize,
    /// How many pages a store needs: the highest one that is written and those below it.
    pub pages: u64,
    /// Page writes in it.
    pub page_writes: u64,
    /// Events of the trace that aren't replayed: reads.
    pub passed_over: u64,
    /// Whether addresses were folded.
    pub wrapped: bool,
    /// How the trace's writes lie on the pages.
    pub fit: PageFit,
    steps: Vec<Step>,
}

/// One thing to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// So many pages from that one on get new contents, in one batch.
    Write {
        /// The first.
        page: u64,
        /// How many.
        pages: u32,
    },
    /// So many pages from that one on are needed no more.
    Discard {
        /// The first.
        page: u64,
        /// How many.
        pages: u32,
    },
    /// What came before becomes durable.
    Sync,
}

/// How a trace becomes work.
#[derive(Debug, Clone, Copy)]
pub struct WorkOptions {
    /// Length of a page.
    pub page_bytes: usize,
    /// Take no more than this many writes.
    pub limit: Option<u64>,
    /// How many pages a store may have; `None` gives it what the trace needs.
    pub pages_max: Option<u64>,
    /// Folds addresses that lie beyond back, instead of refusing them.
    pub wrap: bool,
}

impl Work {
    /// Reads a trace. A write that touches a page in part writes the whole page.
    ///
    /// Memory: 16 bytes an event.
    ///
    /// # Errors
    /// The trace can't be read or writes nothing, or an address lies beyond what the stores may have.
    pub fn read(
        records: impl Iterator<Item = Result<Record, TraceError>>,
        options: WorkOptions,
    ) -> Result<Self, ReplayError> {
        let mut work = Self {
            page_bytes: options.page_bytes,
            pages: 0,
            page_writes: 0,
            passed_over: 0,
            wrapped: false,
            fit: PageFit::new(options.page_bytes as u64),
            steps: Vec::new(),
        };
        for (event, record) in (1..).zip(records) {
            let record = record?;
            let is_write = record.operation == Operation::Write;
            if is_write && options.limit.is_some_and(|limit| work.fit.writes() >= limit) {
                break;
            }
            work.fit.add(&record);
            work.add(event, &record, options)?;
        }
        work.keep_to_what_is_written();
        if work.page_writes == 0 { Err(ReplayError::NoWrites) } else { Ok(work) }
    }

    /// What is to be done, in order.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    fn add(&mut self, event: u64, record: &Record, options: WorkOptions) -> Result<(), ReplayError> {
        match record.operation {
            Operation::Read => self.passed_over += 1,
            Operation::Sync => self.steps.push(Step::Sync),
            Operation::Write => {
                for (page, pages) in self.pages_of(event, record, options)? {
                    self.page_writes += u64::from(pages);
                    self.steps.push(Step::Write { page, pages });
                }
            }
            Operation::Discard => {
                for (page, pages) in discarded(record, options) {
                    self.steps.push(Step::Discard { page, pages });
                }
            }
        }
        Ok(())
    }

    /// Discards beyond the last page that is written ask for nothing; kernels send them for whole file systems.
    fn keep_to_what_is_written(&mut self) {
        let written = self.pages;
        self.steps.retain_mut(|step| {
            let Step::Discard { page, pages } = step else { return true };
            *pages = (*pages).min(u32::try_from(written.saturating_sub(*page)).unwrap_or(u32::MAX));
            *pages > 0
        });
    }

    /// The ranges of pages of a write: one, or two where it is folded at the end.
    fn pages_of(
        &mut self,
        event: u64,
        record: &Record,
        options: WorkOptions,
    ) -> Result<impl Iterator<Item = (u64, u32)> + use<>, ReplayError> {
        let touched = record.pages(options.page_bytes as u64);
        let pages = touched.end - touched.start;
        let counted = u32::try_from(pages).ok().filter(|_| pages <= WRITE_PAGES_MAX);
        let count = counted.ok_or(ReplayError::LongWrite { pages, event, most: WRITE_PAGES_MAX })?;
        let ranges = match options.pages_max {
            Some(most) if touched.end > most => {
                if !options.wrap || most < WRITE_PAGES_MAX {
                    return Err(beyond(record, event, most, options.page_bytes as u64));
                }
                self.wrapped = true;
                folded(touched.start % most, count, most)
            }
            _ => [Some((touched.start, count)), None],
        };
        let ranges = ranges.into_iter().flatten().filter(|(_, pages)| *pages > 0);
        self.pages = ranges.clone().map(|(page, pages)| page + u64::from(pages)).fold(self.pages, u64::max);
        Ok(ranges)
    }
}

/// The pages that lie in an event as wholes; the others are still needed in part.
fn discarded(record: &Record, options: WorkOptions) -> Vec<(u64, u32)> {
    let page_bytes = options.page_bytes as u64;
    let start = record.address.div_ceil(page_bytes);
    // No whole page lies in a short one.
    let end = (record.address.saturating_add(record.length_bytes) / page_bytes).max(start);
    let most = options.pages_max.filter(|most| options.wrap && end > *most && *most > 0);
    let count = |pages: u64| u32::try_from(pages).unwrap_or(u32::MAX);
    match most {
        Some(most) if end - start < most => {
            folded(start % most, count(end - start), most).into_iter().flatten().collect()
        }
        Some(most) => vec![(0, count(most))],
        None => vec![(start, count(end - start))],
    }
}

/// Why an address can't be written to in a store of `most` pages.
fn beyond(record: &Record, event: u64, most: u64, page_bytes: u64) -> ReplayError {
    let (address, room_bytes) = (record.address, most.saturating_mul(page_bytes));
    if most < WRITE_PAGES_MAX {
        let least_bytes = WRITE_PAGES_MAX.saturating_mul(page_bytes);
        return ReplayError::TargetTooSmall { address, event, room_bytes, least_bytes };
    }
    ReplayError::BeyondTarget { address, event, room_bytes }
}

/// A range cut at the end of the store, its rest at the beginning.
fn folded(page: u64, pages: u32, most: u64) -> [Option<(u64, u32)>; 2] {
    let room = u32::try_from(most - page).unwrap_or(u32::MAX);
    let (first, rest) = (pages.min(room), pages.saturating_sub(room));
    [Some((page, first)), Some((0, rest))]
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPTIONS: WorkOptions = WorkOptions { page_bytes: 4096, limit: None, pages_max: None, wrap: false };

    fn record(operation: Operation, address: u64, length_bytes: u64) -> Record {
        Record { time_us: 0, operation, address, length_bytes }
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
    fn a_discard_is_of_whole_pages_and_no_longer_than_what_is_written() {
        let records = [
            record(Operation::Discard, 100, 3 * 4096),
            record(Operation::Discard, 1 << 40, 1 << 40),
            record(Operation::Discard, 0, 1 << 45),
            record(Operation::Write, 9 * 4096, 4096),
        ];
        let bounded = WorkOptions { pages_max: Some(2048), ..OPTIONS };
        for options in [OPTIONS, bounded] {
            let work = work(&records, options).unwrap();
            let expected = [
                Step::Discard { page: 1, pages: 2 },
                Step::Discard { page: 0, pages: 10 },
                Step::Write { page: 9, pages: 1 },
            ];
            assert_eq!((work.steps(), work.pages), (&expected[..], 10));
        }
        let records =
            [record(Operation::Write, 2047 * 4096, 4096), record(Operation::Discard, 4095 * 4096, 8192)];
        let folded = work(&records, WorkOptions { wrap: true, ..bounded }).unwrap();
        let expected = [(2047, 1), (0, 1)].map(|(page, pages)| Step::Discard { page, pages });
        assert_eq!(folded.steps()[1..], expected);
        let records = [record(Operation::Write, 0, 4096), record(Operation::Discard, 4095 * 4096 + 512, 512)];
        let folded = work(&records, WorkOptions { wrap: true, ..bounded }).unwrap();
        assert_eq!(folded.steps().len(), 1, "no page lies in the discard as a whole");
    }

    #[test]
    fn a_limit_ends_before_the_write_after_it() {
        let records = [Operation::Write, Operation::Sync, Operation::Write].map(|op| record(op, 0, 4096));
        let work = work(&records, WorkOptions { limit: Some(1), ..OPTIONS }).unwrap();
        assert_eq!(work.steps(), [Step::Write { page: 0, pages: 1 }, Step::Sync]);
    }

    #[test]
    fn addresses_beyond_the_target_are_refused_or_folded() {
        let records =
            [record(Operation::Write, 2047 * 4096, 8192), record(Operation::Write, 3000 * 4096, 4096)];
        let bounded = WorkOptions { pages_max: Some(2048), ..OPTIONS };
        let error = work(&records, bounded).unwrap_err();
        assert!(matches!(error, ReplayError::BeyondTarget { event: 1, .. }), "{error}");
        assert!(error.to_string().contains("--wrap"));
        let tiny = WorkOptions { pages_max: Some(3), wrap: true, ..OPTIONS };
        let error = work(&records, tiny).unwrap_err();
        assert!(matches!(error, ReplayError::TargetTooSmall { room_bytes: 12_288, .. }), "{error}");
        let folded = work(&records, WorkOptions { wrap: true, ..bounded }).unwrap();
        let expected = [(2047, 1), (0, 1), (952, 1)].map(|(page, pages)| Step::Write { page, pages });
        assert_eq!(folded.steps(), expected);
        assert!(folded.wrapped && folded.pages == 2048);
    }

    #[test]
    fn nothing_to_write_is_an_error() {
        let error = work(&[record(Operation::Sync, 0, 0)], OPTIONS).unwrap_err();
        assert!(matches!(error, ReplayError::NoWrites));
    }
}
