use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchOptions};

use super::bytes::StepBytes;
use super::candidates::Candidates;
use super::group::Group;
use super::plan::ScanPlan;
use super::rows::Rows;
use crate::ColumnsError;

/// Decodes a scan's rows to Arrow batches.
#[derive(Debug)]
pub struct BatchDecoder<'a> {
    group: Group<'a>,
}

impl<'a> BatchDecoder<'a> {
    /// Decodes all row groups of a plan.
    pub fn new(plan: &'a ScanPlan) -> Self {
        Self::of_part(plan, 0, 1)
    }

    /// Decodes every `parts`th row group of a plan, from number `part` on. It receives only their
    /// steps.
    pub fn of_part(plan: &'a ScanPlan, part: usize, parts: usize) -> Self {
        Self { group: Group::of_part(plan, part, parts) }
    }

    /// Returns the next rows, or `None` after the last. No batch is empty.
    ///
    /// # Errors
    /// Bytes can't be read or aren't Parquet. The decoder can't be used afterwards.
    pub fn next(&mut self, bytes: &mut dyn StepBytes) -> Result<Option<RecordBatch>, ColumnsError> {
        while let Some(rows) = self.group.next_rows(bytes)? {
            let batch = self.decode(rows)?;
            if batch.num_rows() > 0 {
                return Ok(Some(batch));
            }
        }
        Ok(None)
    }

    fn decode(&mut self, rows: Rows) -> Result<RecordBatch, ColumnsError> {
        let plan = self.group.plan();
        let schema = Arc::clone(plan.schema());
        let columns = plan.columns_of(self.group.file());
        let mut candidates = Candidates::new(columns, self.group.chunks(), rows);
        for (place, predicate) in plan.predicates() {
            let found = predicate.matches(&candidates.column(*place)?)?;
            candidates.keep(&found)?;
            if candidates.count() == 0 {
                return Ok(RecordBatch::new_empty(schema));
            }
        }
        let options = RecordBatchOptions::new().with_row_count(Some(candidates.count()));
        let outputs = (0..schema.fields().len()).map(|place| candidates.column(place));
        let outputs = outputs.collect::<Result<Vec<_>, _>>()?;
        RecordBatch::try_new_with_options(schema, outputs, &options)
            .map_err(ColumnsError::arrow("making a batch"))
    }
}
