//! Drops rows by dynamic filters: rows without a match on a join's other side, or beyond the best
//! rows so far. Row groups that such a filter prunes aren't read (`pruner`). In those that are read
//! its rows are dropped here, after the decoder and before any operator moves, hashes or keeps
//! them. Decoding isn't affected.

use std::sync::Arc;

use arrow_array::{Array as _, BooleanArray, RecordBatch};
use arrow_buffer::BooleanBufferBuilder;
use arrow_schema::SchemaRef;
use arrow_select::coalesce::BatchCoalescer;
use arrow_select::filter::{filter_record_batch, prep_null_mask_filter};
use datafusion::common::cast::as_boolean_array;
use datafusion::common::{DataFusionError, internal_err};
use datafusion::datasource::physical_plan::{FileSource as _, ParquetSource};
use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_expr::expressions::{Column, DynamicFilterTracking};
use datafusion::physical_expr::utils::{collect_columns, split_conjunction};
use datafusion::physical_expr::{PhysicalExpr, conjunction};
use datafusion::physical_plan::metrics::Count;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures_util::stream::{StreamExt as _, try_unfold};

use super::columns::{of_others, of_output};
use super::worth::Worth;

/// Maximum number of batches gathered before their remaining rows are handed on.
const GATHERED_BATCHES_MAX: u32 = 64;

/// Filter of a partition's rows.
pub(super) struct RowFilter {
    /// Static part of the filter, which an operator above evaluates anyway: cheaper than looking
    /// rows up.
    fixed: Option<Arc<dyn PhysicalExpr>>,
    changing: OfColumns,
    left: Left,
    worth: Worth,
    ruled_out: Count,
}

/// A filter with its columns; it receives only these, because it copies its input.
struct OfColumns {
    filter: Arc<dyn PhysicalExpr>,
    columns: Vec<usize>,
}

impl RowFilter {
    /// Creates a filter from the parts of a source's filter on output columns; `None` if none of
    /// them is dynamic.
    pub(super) fn of(
        source: &ParquetSource,
        schema: SchemaRef,
        batch_rows: usize,
        ruled_out: impl FnOnce() -> Count,
    ) -> Result<Option<Self>, DataFusionError> {
        let Some(whole) = source.filter() else { return Ok(None) };
        let (changing, fixed): (Vec<_>, Vec<_>) = split_conjunction(&whole)
            .into_iter()
            .partition(|part| DynamicFilterTracking::classify(part).contains_dynamic_filter());
        let handed_out = |part| of_output(part, source.projection());
        let changing = changing.into_iter().filter_map(|part| handed_out(part).transpose());
        let changing = changing.collect::<Result<Vec<_>, _>>()?;
        if changing.is_empty() {
            return Ok(None);
        }
        // If one part can't be used, the others might fail where the whole filter doesn't.
        let fixed = fixed.into_iter().map(handed_out).collect::<Result<Option<Vec<_>>, _>>()?;
        let fixed = fixed.filter(|parts| !parts.is_empty()).map(conjunction);
        let changing = OfColumns::new(&conjunction(changing))?;
        let left = Left::new(schema, batch_rows);
        Ok(Some(Self { fixed, changing, left, worth: Worth::default(), ruled_out: ruled_out() }))
    }

    /// Returns the remaining rows in order.
    pub(super) fn filtered(self, rows: SendableRecordBatchStream) -> SendableRecordBatchStream {
        let schema = rows.schema();
        let left = try_unfold((Some(rows), self), |(mut rows, mut filter)| async move {
            loop {
                if let Some(batch) = filter.left.next() {
                    return Ok(Some((batch, (rows, filter))));
                }
                let Some(more) = &mut rows else { return Ok(None) };
                if let Some(batch) = more.next().await.transpose()? {
                    filter.add(batch)?;
                } else {
                    rows = None;
                    filter.left.finish()?;
                }
            }
        });
        Box::pin(RecordBatchStreamAdapter::new(schema, left))
    }

    /// Ignores errors of the filter: the operators above raise them if the rows are still needed,
    /// since other conditions may exclude these rows first.
    fn add(&mut self, batch: RecordBatch) -> Result<(), DataFusionError> {
        if !self.worth.tries_next() {
            return self.left.add_all(batch);
        }
        let passing = self.passing(&batch);
        let passing_rows = passing.as_ref().map_or(batch.num_rows(), BooleanArray::true_count);
        let Ok(left) = self.changing.left(&batch, passing) else {
            self.worth.rest();
            return self.left.add_all(batch);
        };
        let left_rows = left.true_count();
        self.ruled_out.add(passing_rows - left_rows);
        self.worth.note(passing_rows, left_rows);
        self.left.add(batch, &left)
    }

    /// Evaluates the static part; `None` if that fails.
    fn passing(&mut self, batch: &RecordBatch) -> Option<BooleanArray> {
        let passing = evaluated(self.fixed.as_ref()?, batch);
        if passing.is_err() {
            self.fixed = None;
        }
        passing.ok()
    }
}

impl OfColumns {
    fn new(filter: &Arc<dyn PhysicalExpr>) -> Result<Self, DataFusionError> {
        let mut columns: Vec<usize> = collect_columns(filter).iter().map(Column::index).collect();
        columns.sort_unstable();
        let place = |column: &Column| {
            let place = columns.binary_search(&column.index()).ok()?;
            Some(Arc::new(Column::new(column.name(), place)) as _)
        };
        let Some(filter) = of_others(filter, place)? else {
            return internal_err!("a filter's columns aren't all among those that were collected of it");
        };
        Ok(Self { filter, columns })
    }

    /// Evaluates the dynamic part on the passing rows.
    fn left(
        &self,
        batch: &RecordBatch,
        passing: Option<BooleanArray>,
    ) -> Result<BooleanArray, DataFusionError> {
        let columns = batch.project(&self.columns)?;
        let Some(passing) = passing else { return evaluated(&self.filter, &columns) };
        let columns = filter_record_batch(&columns, &passing)?;
        let left = evaluated(&self.filter, &columns)?;
        let mut among_all = BooleanBufferBuilder::new(passing.len());
        among_all.append_n(passing.len(), false);
        for (row, is_left) in passing.values().set_indices().zip(left.values()) {
            among_all.set_bit(row, is_left);
        }
        Ok(BooleanArray::new(among_all.finish(), None))
    }
}

/// Evaluates a filter; null counts as false.
fn evaluated(filter: &Arc<dyn PhysicalExpr>, batch: &RecordBatch) -> Result<BooleanArray, DataFusionError> {
    let fulfilled = filter.evaluate(batch)?.into_array(batch.num_rows())?;
    let fulfilled = as_boolean_array(&fulfilled)?;
    Ok(if fulfilled.null_count() > 0 { prep_null_mask_filter(fulfilled) } else { fulfilled.clone() })
}

/// Coalesces the remaining rows of several batches. The first rows are handed on early, for queries
/// that need no more; later ones in ever larger groups.
struct Left {
    rows: BatchCoalescer,
    gathered_batches: u32,
    gathered_batches_max: u32,
}

impl Left {
    fn new(schema: SchemaRef, batch_rows: usize) -> Self {
        // Copying nearly full batches costs more than it gains.
        let rows =
            BatchCoalescer::new(schema, batch_rows).with_biggest_coalesce_batch_size(Some(batch_rows / 2));
        Self { rows, gathered_batches: 0, gathered_batches_max: 1 }
    }

    fn add(&mut self, batch: RecordBatch, left: &BooleanArray) -> Result<(), DataFusionError> {
        self.rows.push_batch_with_filter(batch, left)?;
        self.gathered()
    }

    fn add_all(&mut self, batch: RecordBatch) -> Result<(), DataFusionError> {
        self.rows.push_batch(batch)?;
        self.gathered()
    }

    fn gathered(&mut self) -> Result<(), DataFusionError> {
        self.gathered_batches += 1;
        if self.rows.has_completed_batch() {
            self.gathered_batches = 0;
        } else if self.gathered_batches >= self.gathered_batches_max && !self.rows.is_empty() {
            self.gathered_batches_max = (self.gathered_batches_max * 2).min(GATHERED_BATCHES_MAX);
            self.finish()?;
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), DataFusionError> {
        self.gathered_batches = 0;
        Ok(self.rows.finish_buffered_batch()?)
    }

    fn next(&mut self) -> Option<RecordBatch> {
        self.rows.next_completed_batch()
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::Int32Array;
    use arrow_array::cast::AsArray as _;
    use arrow_array::types::Int32Type;
    use datafusion::logical_expr::Operator;
    use datafusion::physical_expr::expressions::{binary, col, lit};

    use super::*;

    fn numbers(numbers: Vec<i32>) -> RecordBatch {
        RecordBatch::try_from_iter([("number", Arc::new(Int32Array::from(numbers)) as _)]).unwrap()
    }

    /// A filter on numbers below six, and on quotients of ten greater than one; either part can be
    /// static or dynamic.
    fn filter(has_quotient_fixed: bool, has_quotient_changing: bool) -> RowFilter {
        let schema = numbers(vec![]).schema();
        let number = || col("number", &schema).unwrap();
        let quotient = binary(lit(10), Operator::Divide, number(), &schema).unwrap();
        let quotient = binary(quotient, Operator::Gt, lit(1), &schema).unwrap();
        let small = binary(number(), Operator::Lt, lit(6), &schema).unwrap();
        let changing = OfColumns::new(if has_quotient_changing { &quotient } else { &small }).unwrap();
        let (left, worth, ruled_out) = (Left::new(schema, 100), Worth::default(), Count::new());
        RowFilter { fixed: has_quotient_fixed.then_some(quotient), changing, left, worth, ruled_out }
    }

    fn left_of(filter: &mut RowFilter, batches: &[Vec<i32>]) -> Vec<Vec<i32>> {
        let mut left = Vec::new();
        for batch in batches {
            filter.add(numbers(batch.clone())).unwrap();
            left.extend(std::iter::from_fn(|| filter.left.next()));
        }
        filter.left.finish().unwrap();
        left.extend(filter.left.next());
        left.iter().map(|batch| batch.column(0).as_primitive::<Int32Type>().values().to_vec()).collect()
    }

    /// Other conditions may exclude the rows for which the filter fails.
    #[test]
    fn rows_of_which_a_part_can_not_be_told_are_left_to_the_operators_above() {
        let mut fixed = filter(true, false);
        assert_eq!(left_of(&mut fixed, &[vec![2, 9], vec![5, 0, 2, 9]]), [vec![2], vec![5, 0, 2]]);
        assert_eq!(fixed.ruled_out.value(), 1);
        let mut changing = filter(false, true);
        assert_eq!(left_of(&mut changing, &[vec![2, 11], vec![5, 0, 11]]), [vec![2], vec![5, 0, 11]]);
        assert_eq!(changing.ruled_out.value(), 1);
    }

    #[test]
    fn first_rows_come_early_and_later_ones_are_gathered() {
        let batches: Vec<Vec<i32>> = (0..9).map(|_| vec![1, 7, 8, 9]).collect();
        let left = left_of(&mut filter(false, false), &batches);
        assert_eq!(left.iter().map(Vec::len).collect::<Vec<_>>(), [1, 2, 4, 2]);
    }
}
