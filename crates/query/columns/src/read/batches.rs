use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, RecordBatch, RecordBatchOptions};
use arrow_select::filter::filter;

use super::bytes::StepBytes;
use super::chunk::Chunk;
use super::group::Group;
use super::plan::ScanPlan;
use super::predicate::both;
use super::rows::{self, Rows};
use super::values;
use crate::ColumnsError;
use crate::guard::guarded;
use crate::number::index;

/// A scan's rows as Arrow batches.
#[derive(Debug)]
pub struct BatchDecoder<'a> {
    group: Group<'a>,
}

impl<'a> BatchDecoder<'a> {
    /// Decodes what a plan reads.
    pub fn new(plan: &'a ScanPlan) -> Self {
        Self::of_part(plan, 0, 1)
    }

    /// Decodes one of several parts of a plan: every so-manieth row group, whose steps alone it is given.
    pub fn of_part(plan: &'a ScanPlan, part: usize, parts: usize) -> Self {
        Self { group: Group::of_part(plan, part, parts) }
    }

    /// The next rows; `None` after the last. No batch is empty.
    ///
    /// # Errors
    /// Bytes can't be read, or are no Parquet; the decoder is not to be used after that.
    pub fn next(&mut self, bytes: &mut dyn StepBytes) -> Result<Option<RecordBatch>, ColumnsError> {
        while let Some(rows) = self.group.next_rows(bytes)? {
            let batch = self.decode(&rows)?;
            if batch.num_rows() > 0 {
                return Ok(Some(batch));
            }
        }
        Ok(None)
    }

    fn decode(&mut self, rows: &Rows) -> Result<RecordBatch, ColumnsError> {
        let plan = self.group.plan();
        let columns = plan.columns_of(self.group.file());
        let chunks = self.group.chunks();
        let mut decoded: Vec<Option<ArrayRef>> = vec![None; columns.len()];
        let mut fetch = |place: usize| -> Result<ArrayRef, ColumnsError> {
            let (Some(slot), Some(column), Some(chunk)) =
                (decoded.get_mut(place), columns.get(place), chunks.get_mut(place))
            else {
                unreachable!("a plan's predicates and outputs are among its columns")
            };
            if slot.is_none() {
                let place = chunk.place.clone();
                let decode =
                    |chunk: &mut Chunk| values::decode(chunk, &column.levels, column.field.data_type(), rows);
                *slot = Some(guarded(&place, || decode(chunk))?);
            }
            slot.clone().ok_or_else(|| unreachable!("it was decoded just now"))
        };
        let mut mask: Option<BooleanArray> = None;
        for (place, predicate) in plan.predicates() {
            let found = predicate.matches(&fetch(*place)?)?;
            mask = Some(mask.map_or_else(|| found.clone(), |mask| both(&mask, &found)));
        }
        let kept = mask.as_ref().map_or(index(rows::count(rows)), BooleanArray::true_count);
        let options = RecordBatchOptions::new().with_row_count(Some(kept));
        let schema = Arc::clone(plan.schema());
        if kept == 0 {
            return Ok(RecordBatch::new_empty(schema));
        }
        let outputs = (0..schema.fields().len()).map(|place| {
            let array = fetch(place)?;
            mask.as_ref()
                .map_or_else(|| Ok(Arc::clone(&array)), |mask| filter(&array, mask))
                .map_err(ColumnsError::arrow("filtering"))
        });
        let outputs = outputs.collect::<Result<Vec<_>, _>>()?;
        RecordBatch::try_new_with_options(schema, outputs, &options)
            .map_err(ColumnsError::arrow("making a batch"))
    }
}
