//! Rows that a filter rules out which changes while the query runs: they meet no row of a join's other side, or come behind the rows that are best so
//! far. The row groups that it rules out aren't read (`pruner`); of those that are read its rows are left out here, behind the decoder and before
//! anything moves, hashes or keeps them. Decoding goes on as it was planned.

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::{Array as _, RecordBatch};
use arrow_schema::SchemaRef;
use arrow_select::coalesce::BatchCoalescer;
use arrow_select::filter::prep_null_mask_filter;
use datafusion::common::DataFusionError;
use datafusion::common::tree_node::{Transformed, TreeNode as _};
use datafusion::datasource::physical_plan::{FileSource as _, ParquetSource};
use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_expr::expressions::{Column, DynamicFilterTracking};
use datafusion::physical_expr::projection::ProjectionExprs;
use datafusion::physical_expr::utils::split_conjunction;
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
    /// Of columns as the scan hands them out.
    filter: Arc<dyn PhysicalExpr>,
    /// What is left of several batches is one.
    rows: BatchCoalescer,
    worth: Worth,
    ruled_out: Count,
}

impl RowFilter {
    /// By what of a source's filter changes and is about columns that it hands out; none where nothing is.
    pub(super) fn of(
        source: &ParquetSource,
        schema: SchemaRef,
        batch_rows: usize,
        ruled_out: impl FnOnce() -> Count,
    ) -> Result<Option<Self>, DataFusionError> {
        let Some(whole) = source.filter() else { return Ok(None) };
        let mut parts = Vec::new();
        for part in split_conjunction(&whole) {
            if DynamicFilterTracking::classify(part).contains_dynamic_filter() {
                parts.extend(of_output(part, source.projection())?);
            }
        }
        if parts.is_empty() {
            return Ok(None);
        }
        // Copying batches that are nearly full would cost more than it brings.
        let rows =
            BatchCoalescer::new(schema, batch_rows).with_biggest_coalesce_batch_size(Some(batch_rows / 2));
        Ok(Some(Self { filter: conjunction(parts), rows, worth: Worth::default(), ruled_out: ruled_out() }))
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
                match more.next().await.transpose()? {
                    Some(batch) => filter.add(batch)?,
                    None => {
                        rows = None;
                        filter.rows.finish_buffered_batch()?;
                    }
                }
            }
        });
        Box::pin(RecordBatchStreamAdapter::new(schema, left))
    }

    fn add(&mut self, batch: RecordBatch) -> Result<(), DataFusionError> {
        if self.worth.rests() {
            return Ok(self.rows.push_batch(batch)?);
        }
        let rows = batch.num_rows();
        let evaluated = self.filter.evaluate(&batch)?.into_array(rows)?;
        let mut is_left = evaluated.as_boolean().clone();
        // Of what isn't known the engine's joins meet nothing either.
        if is_left.null_count() > 0 {
            is_left = prep_null_mask_filter(&is_left);
        }
        let left = is_left.true_count();
        self.ruled_out.add(rows - left);
        self.worth.note(rows, left);
        Ok(self.rows.push_batch_with_filter(batch, &is_left)?)
    }
}

/// The same filter of the columns that a projection makes; none where it leaves one out, or makes something else of it.
fn of_output(
    filter: &Arc<dyn PhysicalExpr>,
    projection: Option<&ProjectionExprs>,
) -> Result<Option<Arc<dyn PhysicalExpr>>, DataFusionError> {
    let mut has_all = true;
    let renamed = Arc::clone(filter).transform_up(|node| {
        let (Some(column), Some(projection)) = (node.downcast_ref::<Column>(), projection) else {
            return Ok(Transformed::no(node));
        };
        let mut outputs = projection.into_iter().enumerate();
        let output = outputs.find(|(_, output)| output.expr.downcast_ref::<Column>() == Some(column));
        Ok(match output {
            Some((number, output)) => Transformed::yes(Arc::new(Column::new(&output.alias, number)) as _),
            None => {
                has_all = false;
                Transformed::no(node)
            }
        })
    })?;
    Ok(has_all.then_some(renamed.data))
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
    use super::*;

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
