//! Flights from CSV files.

pub(crate) mod cells;
mod chunks;
mod header;
mod parse;
mod row;
mod threads;
mod write;

use std::collections::VecDeque;

use arrow_array::RecordBatch;

pub use self::chunks::Source;
use self::chunks::{Chunks, Piece};
use self::parse::{Parsed, parse};
use self::threads::Threads;
pub use self::write::CsvWriter;
use crate::{LoadError, Reject, Rejects};

/// Options of loading.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CsvOptions {
    /// Maximum rows of a batch. Batches also end with each chunk.
    pub batch_rows: usize,
    /// Bytes read and parsed at once, and the maximum length of a row. With two threads, the memory
    /// is about twenty times as much.
    pub chunk_bytes: usize,
    /// Maximum share of bad rows.
    pub bad_max: f64,
    /// Parsing threads in addition to a reading one; with 1, the caller's thread does everything.
    pub threads: usize,
}

impl Default for CsvOptions {
    /// Batches of 65 536 rows, chunks of 4 MiB, one bad row in a hundred, two threads.
    fn default() -> Self {
        Self { batch_rows: 1 << 16, chunk_bytes: 4 << 20, bad_max: 0.01, threads: 2 }
    }
}

/// Report of loading so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoadReport {
    /// Rows, including bad ones.
    pub rows: u64,
    /// Rejected rows. A file without a valid header is rejected as a whole.
    pub bad_rows: u64,
    /// Flights without `Cancelled` in the file; it was derived.
    pub cancelled_derived: u64,
    /// Flights without `Diverted` in the file; it was derived.
    pub diverted_derived: u64,
    /// Flights whose tail number isn't UTF-8, and was left out.
    pub tail_numbers_unreadable: u64,
    /// Decompressed bytes.
    pub bytes: u64,
}

/// Flights of CSV files, in batches in file order. Batches don't depend on the number of threads.
pub struct CsvFlights {
    pieces: Pieces,
    options: CsvOptions,
    ready: VecDeque<RecordBatch>,
    report: LoadReport,
    first_bad: Option<Reject>,
}

enum Pieces {
    Here(Chunks),
    Threads(Threads),
}

impl CsvFlights {
    /// Rows from which the share of bad rows is checked: a few at the beginning aren't
    /// representative.
    const JUDGED_ROWS: u64 = 1_000_000;

    /// Loads these files sequentially.
    pub fn new(sources: Vec<Source>, options: CsvOptions) -> Self {
        let options = CsvOptions {
            batch_rows: options.batch_rows.clamp(1, 1 << 16),
            chunk_bytes: options.chunk_bytes.max(1 << 10),
            ..options
        };
        let chunks = Chunks::new(sources, options.chunk_bytes);
        let pieces = match options.threads {
            0 | 1 => Pieces::Here(chunks),
            threads => Pieces::Threads(Threads::new(chunks, threads, options.batch_rows)),
        };
        Self { pieces, options, ready: VecDeque::new(), report: LoadReport::default(), first_bad: None }
    }

    /// Returns the next batch; `None` at the end. Bad rows go to `rejects`.
    ///
    /// # Errors
    /// A file can't be read; or the share of bad rows exceeds [`CsvOptions::bad_max`]. The latter
    /// is final only at the end, so no batch may be used before.
    pub fn next_batch(&mut self, rejects: &mut dyn Rejects) -> Result<Option<RecordBatch>, LoadError> {
        loop {
            if let Some(batch) = self.ready.pop_front() {
                return Ok(Some(batch));
            }
            let next = match &mut self.pieces {
                Pieces::Here(chunks) => match chunks.next()? {
                    Some(piece) => Some(parse_piece(piece, self.options.batch_rows)?),
                    None => None,
                },
                Pieces::Threads(threads) => threads.next()?,
            };
            let Some(parsed) = next else {
                self.judge(0)?;
                return Ok(None);
            };
            self.take(parsed, rejects);
            self.judge(Self::JUDGED_ROWS)?;
        }
    }

    /// Report so far; complete after the last batch.
    pub fn report(&self) -> LoadReport {
        self.report
    }

    fn take(&mut self, parsed: Parsed, rejects: &mut dyn Rejects) {
        self.report.rows += parsed.rows;
        self.report.bad_rows += parsed.bad_rows;
        self.report.bytes += parsed.bytes;
        self.report.cancelled_derived += parsed.derived.cancelled;
        self.report.diverted_derived += parsed.derived.diverted;
        self.report.tail_numbers_unreadable += parsed.derived.tail_numbers;
        self.ready.extend(parsed.batches);
        for reject in parsed.rejects {
            self.first_bad.get_or_insert_with(|| reject.clone());
            rejects.take(reject);
        }
    }

    fn judge(&self, from_rows: u64) -> Result<(), LoadError> {
        let LoadReport { rows, bad_rows, .. } = self.report;
        let bad_max = self.options.bad_max;
        match &self.first_bad {
            Some(first) if rows >= from_rows && bad_rows as f64 > bad_max * rows as f64 => {
                Err(LoadError::TooManyBad { bad_rows, rows, bad_max, first: Box::new(first.clone()) })
            }
            _ => Ok(()),
        }
    }
}

/// Parses lines to batches; passes rejected rows through.
fn parse_piece(piece: Piece, batch_rows: usize) -> Result<Parsed, LoadError> {
    match piece {
        Piece::Lines(chunk) => Ok(parse(&chunk, batch_rows)?),
        Piece::Bad { rows, reject } => {
            Ok(Parsed { rows, bad_rows: rows, rejects: reject.into_iter().collect(), ..Parsed::default() })
        }
    }
}
