use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::runs::{RunReader, TemporaryRun};
use crate::ColumnsError;

/// Merges rows of several runs.
pub(super) struct Merge {
    runs: Vec<RunReader>,
    /// Next row of each unfinished run.
    heads: BinaryHeap<Reverse<(Vec<u8>, usize)>>,
}

impl Merge {
    pub(super) fn new(runs: Vec<TemporaryRun>, buffer_bytes: usize) -> Result<Self, ColumnsError> {
        let opened = runs.into_iter().map(|run| RunReader::open(run, buffer_bytes));
        let mut merge = Self { runs: opened.collect::<Result<_, _>>()?, heads: BinaryHeap::new() };
        (0..merge.runs.len()).try_for_each(|run| merge.advance(run))?;
        Ok(merge)
    }

    fn advance(&mut self, run: usize) -> Result<(), ColumnsError> {
        let Some(reader) = self.runs.get_mut(run) else { return Ok(()) };
        self.heads.extend(reader.next()?.map(|row| Reverse((row, run))));
        Ok(())
    }

    pub(super) fn next(&mut self) -> Result<Option<Vec<u8>>, ColumnsError> {
        let Some(Reverse((row, run))) = self.heads.pop() else { return Ok(None) };
        self.advance(run)?;
        Ok(Some(row))
    }

    /// Returns at most `rows_max` rows of about `bytes_max`; empty at the end.
    pub(super) fn next_batch(
        &mut self,
        rows_max: usize,
        bytes_max: usize,
    ) -> Result<Vec<Vec<u8>>, ColumnsError> {
        let (mut rows, mut bytes) = (Vec::new(), 0);
        while rows.len() < rows_max
            && bytes < bytes_max
            && let Some(row) = self.next()?
        {
            bytes += row.len();
            rows.push(row);
        }
        Ok(rows)
    }
}
