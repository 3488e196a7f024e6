//! External merge sort: sorted runs in temporary files, and their merge.
//!
//! A row is the order-preserving encoding of its columns (`arrow-row`), and decoded from it again.
//! A temporary file is a sequence of lengths (4 bytes, little-endian) and rows. Its name ends in
//! `.partial`, so that the next writer removes it if this one doesn't.

mod merge;
mod runs;

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_cast::cast;
use arrow_row::{RowConverter, Rows, SortField};
use arrow_schema::SchemaRef;

use self::merge::Merge;
use self::runs::{RunBuffer, TemporaryRun};
use crate::number::short;
use crate::{ColumnsError, Files};

/// Minimum memory: a batch and two buffers of a merge.
pub(super) const MEMORY_BYTES_MIN: u64 = 1 << 20;
/// Minimum read length of a merge.
const BUFFER_BYTES_MIN: usize = 16 << 10;
/// Maximum read length of a merge.
const BUFFER_BYTES_MAX: usize = 1 << 20;
/// Maximum runs merged at once: each is an open file, and processes are usually limited to 1024.
/// Two passes merge 65 536 runs.
const FAN_IN_MAX: usize = 256;
/// Rows per output batch.
const BATCH_ROWS: usize = 8 << 10;
/// Overhead of a row: its end, and its position in the order.
const ROW_OVERHEAD_BYTES: usize = 12;

/// Sorts rows given in any order.
pub(super) struct Sorter {
    files: Arc<dyn Files>,
    schema: SchemaRef,
    /// Index in the schema of each column of the encoded row: sort columns first, then the others.
    places: Vec<usize>,
    converter: RowConverter,
    memory_bytes: usize,
    rows: Option<Rows>,
    runs: Vec<TemporaryRun>,
    next_run: u64,
}

impl Sorter {
    /// Sorts by the columns at `by`, then by the others in the schema's order.
    pub(super) fn new(
        files: &Arc<dyn Files>,
        schema: &SchemaRef,
        by: &[usize],
        memory_bytes: u64,
    ) -> Result<Self, ColumnsError> {
        let others = (0..schema.fields().len()).filter(|place| !by.contains(place));
        let places: Vec<usize> = by.iter().copied().chain(others).collect();
        let fields = places.iter().map(|place| SortField::new(schema.field(*place).data_type().clone()));
        let converter = RowConverter::new(fields.collect()).map_err(ColumnsError::arrow("sorting rows"))?;
        let memory_bytes = usize::try_from(memory_bytes.max(MEMORY_BYTES_MIN)).unwrap_or(usize::MAX);
        Ok(Self {
            files: Arc::clone(files),
            schema: Arc::clone(schema),
            places,
            converter,
            memory_bytes,
            rows: None,
            runs: Vec::new(),
            next_run: 0,
        })
    }

    /// Adds rows with the columns of the schema.
    pub(super) fn push(&mut self, batch: &RecordBatch) -> Result<(), ColumnsError> {
        for from in (0..batch.num_rows()).step_by(BATCH_ROWS) {
            let part = batch.slice(from, BATCH_ROWS.min(batch.num_rows() - from));
            let columns: Vec<ArrayRef> =
                self.places.iter().filter_map(|place| part.columns().get(*place)).cloned().collect();
            let rows = self.rows.get_or_insert_with(|| self.converter.empty_rows(0, 0));
            self.converter.append(rows, &columns).map_err(ColumnsError::arrow("sorting rows"))?;
            // A growing vector doubles, and holds both copies while it moves.
            if rows.size() + rows.num_rows() * ROW_OVERHEAD_BYTES >= self.memory_bytes / 3 {
                self.spill()?;
            }
        }
        Ok(())
    }

    fn spill(&mut self) -> Result<(), ColumnsError> {
        let Some(rows) = self.rows.take() else { return Ok(()) };
        let order = order(&rows);
        let mut run = self.new_run()?;
        order.iter().try_for_each(|row| run.push(rows.row(*row as usize).as_ref()))?;
        self.runs.push(run.finish()?);
        Ok(())
    }

    fn new_run(&mut self) -> Result<RunBuffer, ColumnsError> {
        let number = self.next_run;
        self.next_run += 1;
        RunBuffer::create(&self.files, number)
    }

    /// Returns all rows in order.
    pub(super) fn finish(
        mut self,
        mut take: impl FnMut(RecordBatch) -> Result<(), ColumnsError>,
    ) -> Result<(), ColumnsError> {
        if self.runs.is_empty() {
            let Some(rows) = self.rows.take() else { return Ok(()) };
            let order = order(&rows);
            return order.chunks(BATCH_ROWS).try_for_each(|part| {
                let rows = part.iter().map(|row| rows.row(*row as usize).data().to_vec());
                take(self.decode(&rows.collect::<Vec<_>>())?)
            });
        }
        self.spill()?;
        let fan_in = fan_in(self.memory_bytes);
        while self.runs.len() > fan_in {
            let parts: Vec<TemporaryRun> = self.runs.drain(..fan_in).collect();
            let mut merged = self.new_run()?;
            let mut rows = Merge::new(parts, self.buffer_bytes(fan_in))?;
            while let Some(row) = rows.next()? {
                merged.push(&row)?;
            }
            self.runs.push(merged.finish()?);
        }
        let runs = std::mem::take(&mut self.runs);
        let buffer_bytes = self.buffer_bytes(runs.len());
        let mut rows = Merge::new(runs, buffer_bytes)?;
        loop {
            let batch = rows.next_batch(BATCH_ROWS, self.memory_bytes / 8)?;
            if batch.is_empty() {
                return Ok(());
            }
            take(self.decode(&batch)?)?;
        }
    }

    fn buffer_bytes(&self, runs: usize) -> usize {
        (self.memory_bytes / 2 / runs.max(1)).clamp(BUFFER_BYTES_MIN, BUFFER_BYTES_MAX)
    }

    fn decode(&self, rows: &[Vec<u8>]) -> Result<RecordBatch, ColumnsError> {
        let parser = self.converter.parser();
        let parsed = rows.iter().map(|row| parser.parse(row));
        let decoded =
            self.converter.convert_rows(parsed).map_err(ColumnsError::arrow("taking sorted rows"))?;
        let mut columns: Vec<(usize, ArrayRef)> = self.places.iter().copied().zip(decoded).collect();
        columns.sort_by_key(|(place, _)| *place);
        // Dictionaries were decoded to their values.
        let columns = columns.iter().zip(self.schema.fields()).map(|((_, array), field)| {
            cast(array, field.data_type()).map_err(ColumnsError::arrow("taking sorted rows"))
        });
        RecordBatch::try_new(Arc::clone(&self.schema), columns.collect::<Result<_, _>>()?)
            .map_err(ColumnsError::arrow("taking sorted rows"))
    }
}

/// Number of runs merged at once.
fn fan_in(memory_bytes: usize) -> usize {
    (memory_bytes / 2 / BUFFER_BYTES_MIN).clamp(2, FAN_IN_MAX)
}

fn order(rows: &Rows) -> Vec<u32> {
    let mut order: Vec<u32> = (0..short(rows.num_rows())).collect();
    order.sort_unstable_by(|one, other| rows.row(*one as usize).cmp(&rows.row(*other as usize)));
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_merge_opens_no_more_files_than_a_process_may() {
        assert_eq!(fan_in(1 << 20), 32);
        assert_eq!(fan_in(64 << 20), 256);
        assert_eq!(fan_in(1 << 36), 256);
        assert_eq!(fan_in(0), 2);
    }
}
