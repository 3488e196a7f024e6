//! Parses lines to batches.

use arrow_array::RecordBatch;
use arrow_schema::ArrowError;
use csv::{ByteRecord, ReaderBuilder};
use memchr::{memchr, memchr_iter};

use super::chunks::Chunk;
use super::row::{Derived, Flight};
use crate::columns::Columns;
use crate::{BadRow, Reject};

/// Result of parsing some lines.
#[derive(Default)]
pub(super) struct Parsed {
    pub(super) batches: Vec<RecordBatch>,
    pub(super) rejects: Vec<Reject>,
    /// All rows, including bad ones.
    pub(super) rows: u64,
    pub(super) bad_rows: u64,
    pub(super) bytes: u64,
    pub(super) derived: Derived,
}

/// Characters known to be absent from a chunk, so that rows needn't be checked for them.
struct Clean {
    no_nul: bool,
    no_quotes: bool,
}

struct Parser<'a> {
    chunk: &'a Chunk,
    clean: Clean,
    batch_rows: usize,
    columns: Columns,
    parsed: Parsed,
}

/// Parses the lines of a chunk into batches of at most `batch_rows`.
pub(super) fn parse(chunk: &Chunk, batch_rows: usize) -> Result<Parsed, ArrowError> {
    let bytes = chunk.bytes.as_slice();
    let clean = Clean { no_nul: memchr(0, bytes).is_none(), no_quotes: memchr(b'"', bytes).is_none() };
    let parsed = Parsed { bytes: bytes.len() as u64, ..Parsed::default() };
    let columns = Columns::new(batch_rows.min(bytes.len() / 64));
    let mut parser = Parser { chunk, clean, batch_rows, columns, parsed };
    let mut begin = 0;
    let mut line = chunk.first_line;
    // One iteration, and another after each unclosed quote.
    while begin < bytes.len() {
        let rest = bytes.get(begin..).unwrap_or_default();
        let (taken_bytes, taken_lines) = parser.take(rest, line)?;
        begin += taken_bytes;
        line += taken_lines;
    }
    parser.end_batch()?;
    Ok(parser.parsed)
}

impl Parser<'_> {
    /// Parses rows up to the end, or up to a line with an unclosed quote. Returns the numbers of
    /// bytes and lines.
    fn take(&mut self, bytes: &[u8], line: u64) -> Result<(usize, u64), ArrowError> {
        let mut reader = ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .buffer_capacity(64 << 10)
            .from_reader(bytes);
        let mut record = ByteRecord::new();
        loop {
            let (begin, line_before) = (offset(&reader), reader.position().line());
            // Reading from memory doesn't fail, and cells are bytes.
            let has_row = reader.read_byte_record(&mut record).unwrap_or(false);
            if !has_row {
                return Ok((bytes.len(), 0));
            }
            let row = bytes.get(begin..offset(&reader)).unwrap_or_default();
            let blank = row.iter().take_while(|byte| matches!(byte, b'\n' | b'\r')).count();
            let (blank, row) = row.split_at_checked(blank).unwrap_or_default();
            let line = line + line_before - 1 + memchr_iter(b'\n', blank).count() as u64;
            if !self.clean.no_quotes && memchr(b'\n', record.as_slice()).is_some() {
                let first = row.split_inclusive(|byte| *byte == b'\n').next().unwrap_or_default();
                self.reject(line, BadRow::Quote, first);
                let taken_lines = line_before + memchr_iter(b'\n', blank).count() as u64;
                return Ok((begin + blank.len() + first.len(), taken_lines));
            }
            self.take_row(&record, line, row)?;
        }
    }

    fn take_row(&mut self, record: &ByteRecord, line: u64, row: &[u8]) -> Result<(), ArrowError> {
        let flight = self.check(record, row).and_then(|()| Flight::of(record, &self.chunk.layout));
        match flight {
            Ok(flight) => {
                self.parsed.rows += 1;
                self.parsed.derived.add(flight.derived());
                flight.append(&mut self.columns);
                if self.columns.rows() >= self.batch_rows {
                    self.end_batch()?;
                }
            }
            Err(reason) => self.reject(line, reason, row),
        }
        Ok(())
    }

    /// Checks that apply to every row.
    fn check(&self, record: &ByteRecord, row: &[u8]) -> Result<(), BadRow> {
        if !self.clean.no_nul && memchr(0, row).is_some() {
            return Err(BadRow::Nul);
        }
        let expected = self.chunk.layout.columns;
        let got = record.len();
        if got == expected { Ok(()) } else { Err(BadRow::Columns { expected, got }) }
    }

    fn reject(&mut self, line: u64, reason: BadRow, row: &[u8]) {
        self.parsed.rows += 1;
        self.parsed.bad_rows += 1;
        let row = row.strip_suffix(b"\n").unwrap_or(row);
        let row = row.get(..Reject::ROW_BYTES_MAX.min(row.len())).unwrap_or(row).to_vec();
        self.parsed.rejects.push(Reject { file: self.chunk.file.clone(), line, reason, row });
    }

    fn end_batch(&mut self) -> Result<(), ArrowError> {
        if self.columns.rows() > 0 {
            self.parsed.batches.push(self.columns.finish()?);
        }
        Ok(())
    }
}

fn offset(reader: &csv::Reader<&[u8]>) -> usize {
    usize::try_from(reader.position().byte()).unwrap_or(usize::MAX)
}
