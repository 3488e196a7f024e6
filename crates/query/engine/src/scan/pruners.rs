//! Row groups that a filter rules out which changes while the query runs: what a join has seen, or the rows that are best so far.

use std::ops::Range;
use std::sync::Arc;

use arrow_schema::SchemaRef;
use datafusion::common::DataFusionError;
use datafusion::datasource::physical_plan::{FileSource as _, ParquetSource};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::DynamicFilterTracking;
use datafusion::physical_optimizer::pruning::FilePruner;
use datafusion::physical_plan::metrics::Count;

use super::share::Share;

/// What is known of each piece of a partition that wasn't begun.
pub(crate) struct Pruners(Vec<Option<FilePruner>>);

impl Pruners {
    /// None where the filter stays as it is: what it rules out isn't planned.
    pub(crate) fn new(source: &ParquetSource, share: &Share) -> Self {
        let filter = source.filter();
        let changing =
            filter.filter(|filter| DynamicFilterTracking::classify(filter).contains_dynamic_filter());
        let schema = source.table_schema().table_schema();
        let of = |filter: &Arc<dyn PhysicalExpr>, schema: &SchemaRef| {
            let pieces = share.pieces.iter();
            let pruner = |file| FilePruner::try_new(Arc::clone(filter), schema, file, Count::new());
            pieces.map(|piece| pruner(&piece.file)).collect()
        };
        Self(changing.map(|filter| of(&filter, schema)).unwrap_or_default())
    }

    /// The steps of the pieces from `first` on that are ruled out now and weren't when this was asked before.
    pub(crate) fn ruled_out(
        &mut self,
        first: usize,
        share: &Share,
    ) -> Result<Vec<Range<u32>>, DataFusionError> {
        let mut steps = Vec::new();
        for (pruner, of_piece) in self.0.iter_mut().zip(&share.steps).skip(first) {
            if pruner.as_mut().map_or(Ok(false), FilePruner::should_prune)? {
                // A filter only becomes narrower.
                *pruner = None;
                steps.push(of_piece.clone());
            }
        }
        Ok(steps)
    }
}

impl std::fmt::Debug for Pruners {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pruners").field("pieces", &self.0.len()).finish_non_exhaustive()
    }
}
