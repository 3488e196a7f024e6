//! Decodes single columns: samples to measure their processor time, and whole ones to locate
//! damage.

use std::collections::BTreeMap;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::{Buf as _, Bytes, buf::Reader};
use datafusion::datasource::physical_plan::parquet::transform_schema_to_view;
use nandle_columns::{ColumnsError, ParquetFile, Place};
use nandle_predict::next_of;
use nandle_reads::Estimate;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::reader::{ChunkReader, Length};

use super::decoding::panicked;
use super::pieces::Piece;
use crate::memory::TablesMemory;
use crate::table::TableFiles;
use crate::{EngineError, ThreadClock};

/// Length of a sample; grows by `SAMPLE_GROWTH` while it is shorter than a page.
const SAMPLE_BYTES: u64 = 1 << 20;
const SAMPLE_GROWTH: u64 = 4;
/// Number of samples, evenly spaced.
const SAMPLES: usize = 3;
/// Rows per batch.
const BATCH_ROWS: usize = 1024;
/// Sufficient rows for a sample: writers end a page after 20 000 rows, so it has several pages.
const SAMPLE_ROWS: f64 = 65_536.0;

/// Measured processor seconds per encoded byte, by column.
#[derive(Debug, Default)]
pub(crate) struct Rates(Mutex<BTreeMap<String, Estimate>>);

impl Rates {
    fn known(&self, column: &str) -> Option<Estimate> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(column).copied()
    }

    fn keep(&self, column: String, rate: Estimate) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(column, rate);
    }
}

/// A column chunk that is read.
#[derive(Debug, Clone, Copy)]
struct Chunk<'a> {
    file: &'a Arc<ParquetFile>,
    row_group: usize,
    column: usize,
}

/// Decoding time of a piece; `None` if the rate of a column is unknown.
pub(crate) fn known_seconds(files: &TableFiles, piece: &Piece) -> Option<Estimate> {
    let mut seconds = Estimate::default();
    for (column, _, bytes) in columns(files, piece) {
        seconds += files.rates.known(&column)? * bytes as f64;
    }
    Some(seconds)
}

/// Measures unknown rates of the columns in these pieces.
pub(crate) fn measure<'a>(
    files: &TableFiles,
    pieces: impl Iterator<Item = &'a Piece>,
    clock: ThreadClock,
) -> Result<(), EngineError> {
    let mut unknown: BTreeMap<String, Vec<Chunk<'_>>> = BTreeMap::new();
    for piece in pieces {
        for (column, chunk, _) in columns(files, piece) {
            if files.rates.known(&column).is_none() {
                unknown.entry(column).or_default().push(chunk);
            }
        }
    }
    for (column, chunks) in unknown {
        let last = chunks.len() - 1;
        let mut places: Vec<usize> = (0..SAMPLES).map(|number| number * last / (SAMPLES - 1)).collect();
        places.dedup();
        let chunks = places.iter().filter_map(|place| chunks.get(*place));
        let measured = chunks
            .map(|chunk| chunk.seconds_per_byte(clock, &files.access.memory))
            .collect::<Result<Vec<_>, _>>()?;
        files.rates.keep(column, next_of(&measured));
    }
    Ok(())
}

/// Returns the first column of a piece that can't be decoded: the decoder doesn't report the
/// column. Reads the columns again, if there is memory for a whole one.
pub(crate) fn damaged_column(files: &TableFiles, piece: &Piece) -> Option<String> {
    let is_damaged = |chunk: &Chunk<'_>| {
        let decoded = catch_unwind(AssertUnwindSafe(|| chunk.is_sound(&files.access.memory)));
        !decoded.unwrap_or(false)
    };
    columns(files, piece).find(|(_, chunk, _)| is_damaged(chunk)).map(|(column, ..)| column)
}

/// Columns that a piece reads, with path and number of bytes.
fn columns<'a>(
    files: &'a TableFiles,
    piece: &'a Piece,
) -> impl Iterator<Item = (String, Chunk<'a>, u64)> + 'a {
    let row_group = piece.place.row_group.unwrap_or_default();
    let file = files.files.get(piece.number);
    let chunks = file.into_iter().flat_map(move |file| {
        let columns = file.metadata().row_group(row_group).columns();
        columns.iter().enumerate().map(move |(column, chunk)| (Chunk { file, row_group, column }, chunk))
    });
    chunks.filter_map(|(place, chunk)| {
        let (start, length) = chunk.byte_range();
        let within = start..start.saturating_add(length);
        let bytes = piece.ranges.iter().map(|range| overlap(range, &within)).sum::<u64>();
        (bytes > 0).then(|| (chunk.column_path().string(), place, bytes))
    })
}

fn overlap(one: &Range<u64>, other: &Range<u64>) -> u64 {
    one.end.min(other.end).saturating_sub(one.start.max(other.start))
}

impl Chunk<'_> {
    /// Measures the decoding of the first rows.
    fn seconds_per_byte(&self, clock: ThreadClock, memory: &TablesMemory) -> Result<f64, EngineError> {
        let decoded = catch_unwind(AssertUnwindSafe(|| self.decode(clock, memory)));
        decoded.unwrap_or_else(|panic| Err(panicked(&self.place(), panic.as_ref())))
    }

    fn decode(&self, clock: ThreadClock, memory: &TablesMemory) -> Result<f64, EngineError> {
        let group = self.file.metadata().row_group(self.row_group);
        let (_, length_bytes) = group.column(self.column).byte_range();
        let rows = group.num_rows().max(1) as f64;
        for held_bytes in sample_lengths(length_bytes) {
            let held = usize::try_from(held_bytes).unwrap_or(usize::MAX);
            let _held = memory.hold("a sample of a column that EXPLAIN decodes", held)?;
            // The first batch includes the dictionary, which a chunk has only once.
            let mut batches = self.reader(held_bytes).map_err(|error| self.failed(error))?;
            let Some((_, first_seconds)) = timed(&mut batches, clock) else { continue };
            let (mut rest_rows, mut rest_seconds) = (0.0, 0.0);
            while rest_rows < SAMPLE_ROWS
                && let Some((rows, seconds)) = timed(&mut batches, clock)
            {
                rest_rows += rows;
                rest_seconds += seconds;
            }
            let of_rest = if rest_rows > 0.0 {
                rest_seconds / rest_rows * (rows - BATCH_ROWS as f64).max(0.0)
            } else {
                0.0
            };
            return Ok((first_seconds + of_rest) / length_bytes.max(1) as f64);
        }
        Err(self.failed(ParquetError::EOF("the chunk ends before its first rows".to_owned())))
    }

    /// Returns true if all rows can be decoded, or if memory is insufficient to check.
    fn is_sound(&self, memory: &TablesMemory) -> bool {
        let group = self.file.metadata().row_group(self.row_group);
        let (_, length_bytes) = group.column(self.column).byte_range();
        let length = usize::try_from(length_bytes).unwrap_or(usize::MAX);
        let Ok(_held) = memory.hold("a column that can't be decoded", length) else { return true };
        self.reader(length_bytes).is_ok_and(|mut batches| batches.all(|batch| batch.is_ok()))
    }

    fn reader(&self, held_bytes: u64) -> ParquetResult<ParquetRecordBatchReader> {
        let metadata = self.file.metadata();
        let (start, _) = metadata.row_group(self.row_group).column(self.column).byte_range();
        let mut bytes = vec![0; usize::try_from(held_bytes).unwrap_or(usize::MAX)];
        self.file.source().read_exact_at(start, &mut bytes)?;
        let held = Held { start, bytes: bytes.into(), file_bytes: self.file.source().length_bytes() };
        let schema = Arc::new(transform_schema_to_view(self.file.schema()));
        let options = ArrowReaderOptions::new().with_schema(schema);
        let mask = ProjectionMask::leaves(metadata.file_metadata().schema_descr(), [self.column]);
        let metadata = ArrowReaderMetadata::try_new(Arc::clone(metadata), options)?;
        ParquetRecordBatchReaderBuilder::new_with_metadata(held, metadata)
            .with_projection(mask)
            .with_row_groups(vec![self.row_group])
            .with_batch_size(BATCH_ROWS)
            .build()
    }

    fn place(&self) -> Place {
        Place { row_group: Some(self.row_group), ..Place::of_file(self.file.name()) }
    }

    fn failed(&self, source: ParquetError) -> EngineError {
        ColumnsError::Parquet { action: "decoding", place: self.place(), source: Box::new(source) }.into()
    }
}

/// Lengths to try for a sample until it contains rows.
fn sample_lengths(length_bytes: u64) -> impl Iterator<Item = u64> {
    let longer = move |held: &u64| {
        (*held < length_bytes).then(|| length_bytes.min(held.saturating_mul(SAMPLE_GROWTH)))
    };
    std::iter::successors(Some(length_bytes.min(SAMPLE_BYTES)), longer)
}

/// Rows and seconds of the next batch; `None` at the end of the bytes.
fn timed(batches: &mut ParquetRecordBatchReader, clock: ThreadClock) -> Option<(f64, f64)> {
    let began = clock();
    let rows = batches.next()?.ok()?.num_rows();
    Some((rows as f64, clock().since(began).as_secs_f64()))
}

/// First bytes of a chunk, presented as the whole file.
struct Held {
    start: u64,
    bytes: Bytes,
    file_bytes: u64,
}

impl Held {
    fn from(&self, start: u64) -> ParquetResult<Bytes> {
        let at = start.checked_sub(self.start).and_then(|at| usize::try_from(at).ok());
        let at = at.filter(|at| *at <= self.bytes.len());
        at.map(|at| self.bytes.slice(at..)).ok_or_else(|| ParquetError::EOF("it isn't held".to_owned()))
    }
}

impl Length for Held {
    fn len(&self) -> u64 {
        self.file_bytes
    }
}

impl ChunkReader for Held {
    type T = Reader<Bytes>;

    fn get_read(&self, start: u64) -> ParquetResult<Self::T> {
        Ok(self.from(start)?.reader())
    }

    fn get_bytes(&self, start: u64, length: usize) -> ParquetResult<Bytes> {
        let bytes = self.from(start)?;
        if length > bytes.len() {
            return Err(ParquetError::EOF("it isn't held".to_owned()));
        }
        Ok(bytes.slice(..length))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_grow_to_the_whole() {
        let lengths = |bytes| sample_lengths(bytes).map(|length| length >> 10).collect::<Vec<_>>();
        assert_eq!(lengths(512 << 10), [512]);
        assert_eq!(lengths(9 << 20), [1024, 4096, 9216]);
        assert_eq!(lengths(1 << 20), [1024]);
    }
}
