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

/// How files are loaded.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CsvOptions {
    /// Rows of a batch at most. Batches end with the bytes that are read at once, too.
    pub batch_rows: usize,
    /// Bytes that are read and parsed at once. No row may be longer. Memory is about twenty times as much, with two threads.
    pub chunk_bytes: usize,
    /// The share of rows that may be bad.
    pub bad_max: f64,
    /// Threads that parse, beside one that reads; 1: all is done by the caller's.
    pub threads: usize,
}

impl Default for CsvOptions {
    /// Batches of 65 536 rows, 4 MiB at once, one row in a hundred, two threads.
    fn default() -> Self {
        Self { batch_rows: 1 << 16, chunk_bytes: 4 << 20, bad_max: 0.01, threads: 2 }
    }
}

/// What was loaded so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoadReport {
    /// Rows, bad ones among them.
    pub rows: u64,
    /// Rows that were kept aside. A file without a header of flights is bad as a whole.
    pub bad_rows: u64,
    /// Flights of whose `Cancelled` the file said nothing, so that it was derived.
    pub cancelled_derived: u64,
    /// The same of `Diverted`.
    pub diverted_derived: u64,
    /// Flights whose tail number isn't UTF-8, so that it was left out.
    pub tail_numbers_unreadable: u64,
    /// Decompressed bytes.
    pub bytes: u64,
}

/// The flights of CSV files, batch by batch in the files' order. Batches are the same for any number of threads.
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
    /// More bad rows than their share are no error before so many rows have come: a few at the beginning say nothing yet.
    const JUDGED_ROWS: u64 = 1_000_000;

    /// Flights of these files, one after the other.
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

    /// The next batch; none at the end. Bad rows go to `rejects`.
    ///
    /// # Errors
    /// A file can't be read; more rows are bad than [`CsvOptions::bad_max`] allows, which is certain only at the end: no batch counts
    /// before all have come.
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

    /// What was loaded so far; all, once there is no further batch.
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

/// Lines become batches; what can't be parsed passes through.
fn parse_piece(piece: Piece, batch_rows: usize) -> Result<Parsed, LoadError> {
    match piece {
        Piece::Lines(chunk) => Ok(parse(&chunk, batch_rows)?),
        Piece::Bad { rows, reject } => {
            Ok(Parsed { rows, bad_rows: rows, rejects: reject.into_iter().collect(), ..Parsed::default() })
        }
    }
}
