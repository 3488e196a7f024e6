use std::sync::Arc;

use arrow_array::RecordBatch;

use super::results::{CountMethod, CountReport};
use super::{CodeBatch, CountError, KeySpace, RESULT_GROUPS};

/// Counter of rows sorted by all columns except the last one, the fact. Its memory depends only on
/// the last column's number of values.
pub struct SortedCounter {
    space: Arc<KeySpace>,
    /// Dimensions of the current rows, as a key.
    present: Option<u64>,
    /// Count of each value of the last column.
    counts: Vec<u64>,
    /// Values with a count above zero.
    touched: Vec<u64>,
    keys: Vec<u64>,
    ready: (Vec<u64>, Vec<u64>),
    report: CountReport,
}

impl SortedCounter {
    /// Creates a counter of groups in this space.
    pub fn new(space: &Arc<KeySpace>) -> Self {
        Self {
            space: Arc::clone(space),
            present: None,
            counts: vec![0; space.last_values()],
            touched: Vec::new(),
            keys: Vec::new(),
            ready: (Vec::new(), Vec::new()),
            report: CountReport { method: CountMethod::Sorted, ..CountReport::default() },
        }
    }

    /// Counts rows of a batch from `from` on, until a batch of results is full. Returns the row to
    /// continue from, and the results.
    ///
    /// # Errors
    /// The rows aren't sorted.
    pub fn push(
        &mut self,
        batch: &CodeBatch<'_>,
        from: usize,
    ) -> Result<(usize, Option<RecordBatch>), CountError> {
        let mut from = from;
        while from < batch.rows() && self.ready.0.len() < RESULT_GROUPS {
            let mut keys = std::mem::take(&mut self.keys);
            batch.keys(from, &mut keys);
            let counted = self.add(&keys);
            from += keys.len();
            self.keys = keys;
            counted?;
        }
        let results = if self.ready.0.len() < RESULT_GROUPS { None } else { self.take_ready()? };
        Ok((from, results))
    }

    fn add(&mut self, keys: &[u64]) -> Result<(), CountError> {
        for key in keys {
            let (dimensions, value) = self.space.split_last(*key);
            if self.present != Some(dimensions) {
                if self.present.is_some_and(|present| present > dimensions) {
                    return Err(CountError::NotSorted { row: self.report.rows });
                }
                self.end_group();
                self.present = Some(dimensions);
            }
            let count = usize::try_from(value).ok().and_then(|value| self.counts.get_mut(value));
            let Some(count) = count else { unreachable!("a batch's tables were checked against the space") };
            if *count == 0 {
                self.touched.push(value);
            }
            *count += 1;
            self.report.rows += 1;
        }
        Ok(())
    }

    fn end_group(&mut self) {
        let Some(dimensions) = self.present else { return };
        self.touched.sort_unstable();
        for value in self.touched.drain(..) {
            let count = usize::try_from(value).ok().and_then(|value| self.counts.get_mut(value));
            self.ready.0.push(dimensions + value);
            self.ready.1.push(count.map_or(0, std::mem::take));
        }
    }

    fn take_ready(&mut self) -> Result<Option<RecordBatch>, CountError> {
        let (keys, counts) = std::mem::take(&mut self.ready);
        self.report.groups += keys.len() as u64;
        if keys.is_empty() { Ok(None) } else { self.space.batch(&keys, counts).map(Some) }
    }

    /// Returns the remaining groups, if any, and the report.
    ///
    /// # Errors
    /// Columns don't form a batch.
    pub fn finish(mut self) -> Result<(Option<RecordBatch>, CountReport), CountError> {
        self.end_group();
        let last = self.take_ready()?;
        Ok((last, self.report))
    }
}
