//! Rows that a filter rules out which changes while the query runs: they meet no row of a join's other side, or come behind the rows that are best so
//! far. The row groups that it rules out aren't read (`pruner`); of those that are read its rows are left out here, behind the decoder and before
//! anything moves, hashes or keeps them. Decoding goes on as it was planned.

use std::sync::Arc;

use arrow_array::{Array as _, BooleanArray, RecordBatch};
use arrow_buffer::BooleanBufferBuilder;
use arrow_schema::SchemaRef;
use arrow_select::coalesce::BatchCoalescer;
use arrow_select::filter::{filter_record_batch, prep_null_mask_filter};
use datafusion::common::cast::as_boolean_array;
use datafusion::common::tree_node::{Transformed, TreeNode as _};
use datafusion::common::{DataFusionError, internal_err};
use datafusion::datasource::physical_plan::{FileSource as _, ParquetSource};
use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_expr::expressions::{Column, DynamicFilterTracking};
use datafusion::physical_expr::projection::ProjectionExprs;
use datafusion::physical_expr::utils::{collect_columns, split_conjunction};
use datafusion::physical_expr::{PhysicalExpr, conjunction};
use datafusion::physical_plan::metrics::Count;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures_util::stream::{StreamExt as _, try_unfold};

/// So many batches say whether a filter rules enough out.
const TRIED_BATCHES: u32 = 4;
/// One that doesn't isn't evaluated for so many: joins fill theirs in later, and best rows become better.
const RESTED_BATCHES: u32 = 60;
/// A filter is worth evaluating where it rules out at least one of so many rows.
const WORTH_ONE_ROW_OF: usize = 8;

/// Leaves rows out.
pub(super) struct RowFilter {
    /// What of the filter stays as it is and an operator above evaluates anyway: it costs less than looking rows up.
    fixed: Option<Arc<dyn PhysicalExpr>>,
    changing: OfColumns,
    /// What is left of several batches is one.
    rows: BatchCoalescer,
    worth: Worth,
    ruled_out: Count,
}

/// A filter of some columns, which are given to it alone: it copies what it is given.
struct OfColumns {
    filter: Arc<dyn PhysicalExpr>,
    columns: Vec<usize>,
}

impl RowFilter {
    /// By what of a source's filter is about columns that it hands out; none where nothing of it changes.
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
        // Without one of them the others may fail where the whole doesn't.
        let fixed = fixed.into_iter().map(handed_out).collect::<Result<Option<Vec<_>>, _>>()?;
        let fixed = fixed.filter(|parts| !parts.is_empty()).map(conjunction);
        let changing = OfColumns::new(&conjunction(changing))?;
        // Copying batches that are nearly full would cost more than it brings.
        let rows =
            BatchCoalescer::new(schema, batch_rows).with_biggest_coalesce_batch_size(Some(batch_rows / 2));
        Ok(Some(Self { fixed, changing, rows, worth: Worth::default(), ruled_out: ruled_out() }))
    }

    /// The rows that are left, in their order.
    pub(super) fn filtered(self, rows: SendableRecordBatchStream) -> SendableRecordBatchStream {
        let schema = rows.schema();
        let left = try_unfold((Some(rows), self), |(mut rows, mut filter)| async move {
            loop {
                if let Some(batch) = filter.rows.next_completed_batch() {
                    return Ok(Some((batch, (rows, filter))));
                }
                let Some(more) = &mut rows else { return Ok(None) };
                if let Some(batch) = more.next().await.transpose()? {
                    filter.add(batch)?;
                } else {
                    rows = None;
                    filter.rows.finish_buffered_batch()?;
                }
            }
        });
        Box::pin(RecordBatchStreamAdapter::new(schema, left))
    }

    fn add(&mut self, batch: RecordBatch) -> Result<(), DataFusionError> {
        if self.worth.rests() {
            return Ok(self.rows.push_batch(batch)?);
        }
        let passing = self.passing(&batch);
        let passing_rows = passing.as_ref().map_or(batch.num_rows(), BooleanArray::true_count);
        let left = self.changing.left(&batch, passing)?;
        let left_rows = left.true_count();
        self.ruled_out.add(passing_rows - left_rows);
        self.worth.note(passing_rows, left_rows);
        Ok(self.rows.push_batch_with_filter(batch, &left)?)
    }

    /// Which rows fulfil the fixed part. An error of it is for the operator above to give: that one may have ruled out the rows that it is about before.
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
            Some(Column::new(column.name(), place))
        };
        let Some(filter) = renamed(filter, place)? else {
            return internal_err!("a filter has columns that it hasn't");
        };
        Ok(Self { filter, columns })
    }

    /// Which rows of those that pass are left.
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

/// Which rows fulfil a filter. Of what isn't known joins and filters leave nothing either.
fn evaluated(filter: &Arc<dyn PhysicalExpr>, batch: &RecordBatch) -> Result<BooleanArray, DataFusionError> {
    let fulfilled = filter.evaluate(batch)?.into_array(batch.num_rows())?;
    let fulfilled = as_boolean_array(&fulfilled)?;
    Ok(if fulfilled.null_count() > 0 { prep_null_mask_filter(fulfilled) } else { fulfilled.clone() })
}

/// The same filter of the columns that a projection makes; none where it leaves one out, or makes something else of it.
fn of_output(
    filter: &Arc<dyn PhysicalExpr>,
    projection: Option<&ProjectionExprs>,
) -> Result<Option<Arc<dyn PhysicalExpr>>, DataFusionError> {
    let Some(projection) = projection else { return Ok(Some(Arc::clone(filter))) };
    renamed(filter, |column| {
        let mut outputs = projection.into_iter().enumerate();
        let output = outputs.find(|(_, output)| output.expr.downcast_ref::<Column>() == Some(column));
        output.map(|(number, output)| Column::new(&output.alias, number))
    })
}

/// The same filter of other columns; none where one has no other.
fn renamed(
    filter: &Arc<dyn PhysicalExpr>,
    other: impl Fn(&Column) -> Option<Column>,
) -> Result<Option<Arc<dyn PhysicalExpr>>, DataFusionError> {
    let mut has_all = true;
    let filter = Arc::clone(filter).transform_up(|node| {
        let Some(column) = node.downcast_ref::<Column>() else { return Ok(Transformed::no(node)) };
        let other = other(column);
        has_all &= other.is_some();
        Ok(other.map_or_else(|| Transformed::no(node), |other| Transformed::yes(Arc::new(other) as _)))
    })?;
    Ok(has_all.then_some(filter.data))
}

/// Whether a filter is worth evaluating, by the rows that it was tried with.
#[derive(Debug, Default)]
struct Worth {
    tried_batches: u32,
    rows: usize,
    left: usize,
    rested_batches: u32,
}

impl Worth {
    /// Whether the next batch isn't to be tried.
    fn rests(&mut self) -> bool {
        if self.tried_batches < TRIED_BATCHES {
            return false;
        }
        let is_worth = (self.rows - self.left) * WORTH_ONE_ROW_OF >= self.rows;
        self.rested_batches += 1;
        if is_worth || self.rested_batches > RESTED_BATCHES {
            *self = Self::default();
            return false;
        }
        true
    }

    fn note(&mut self, rows: usize, left: usize) {
        self.tried_batches += 1;
        self.rows += rows;
        self.left += left;
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::Int32Array;
    use datafusion::logical_expr::Operator;
    use datafusion::physical_expr::expressions::{binary, col, lit};

    use super::*;

    /// Another condition, that isn't evaluated here, may rule out the rows of which it can't be told.
    #[test]
    fn rows_of_which_the_fixed_part_can_not_be_told_are_left_to_the_operator_above() {
        let numbers = Arc::new(Int32Array::from(vec![5, 0, 2, 9])) as _;
        let batch = RecordBatch::try_from_iter([("number", numbers)]).unwrap();
        let schema = batch.schema();
        let number = || col("number", &schema).unwrap();
        let quotient = binary(lit(10), Operator::Divide, number(), &schema).unwrap();
        let fixed = binary(quotient, Operator::Gt, lit(1), &schema).unwrap();
        let changing = binary(number(), Operator::Lt, lit(6), &schema).unwrap();
        let rows = BatchCoalescer::new(Arc::clone(&schema), 100);
        let (worth, ruled_out) = (Worth::default(), Count::new());
        let changing = OfColumns::new(&changing).unwrap();
        let mut filter = RowFilter { fixed: Some(fixed), changing, rows, worth, ruled_out };
        filter.add(batch.slice(2, 2)).unwrap();
        filter.add(batch.clone()).unwrap();
        filter.rows.finish_buffered_batch().unwrap();
        let left = filter.rows.next_completed_batch().unwrap();
        assert_eq!(left.column(0).as_ref(), &Int32Array::from(vec![2, 5, 0, 2]));
        assert_eq!(filter.ruled_out.value(), 1);
    }

    /// How many of so many batches of 100 rows are evaluated, of which so many rows are left each time.
    fn evaluated(batches: usize, left: usize) -> usize {
        let mut worth = Worth::default();
        (0..batches)
            .filter(|_| {
                let is_evaluated = !worth.rests();
                if is_evaluated {
                    worth.note(100, left);
                }
                is_evaluated
            })
            .count()
    }

    #[test]
    fn filters_that_rule_little_out_are_tried_now_and_then() {
        assert_eq!(evaluated(1000, 0), 1000);
        assert_eq!(evaluated(1000, 87), 1000);
        assert_eq!(evaluated(1000, 100), 64);
        assert_eq!(evaluated(1000, 88), 64);
    }
}
