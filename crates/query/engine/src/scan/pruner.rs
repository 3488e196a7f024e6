//! Row groups that a filter rules out which changes while the query runs: what a join has seen, or the rows that are best so far.

use std::ops::Range;
use std::sync::Arc;

use arrow_schema::SchemaRef;
use datafusion::common::Statistics;
use datafusion::common::pruning::PrunableStatistics;
use datafusion::datasource::physical_plan::{FileSource as _, ParquetSource};
use datafusion::physical_expr::expressions::DynamicFilterTracking;
use datafusion::physical_expr::{DynamicFilterTracker, PhysicalExpr};
use datafusion::physical_optimizer::pruning::build_pruning_predicate;
use datafusion::physical_plan::metrics::Count;

use super::share::Share;

/// What is known of the pieces of a partition, beside a filter that changes; none where the filter stays as it is: what that rules out isn't planned.
pub(crate) struct Pruner(Option<Changing>);

struct Changing {
    filter: Arc<dyn PhysicalExpr>,
    tracking: DynamicFilterTracking,
    was_asked: bool,
    schema: SchemaRef,
    statistics: Vec<Arc<Statistics>>,
    is_ruled_out: Vec<bool>,
}

impl Pruner {
    pub(crate) fn new(source: &ParquetSource, share: &Share) -> Self {
        let changing = |filter: Arc<dyn PhysicalExpr>| {
            let tracking = DynamicFilterTracking::classify(&filter);
            if !tracking.contains_dynamic_filter() {
                return None;
            }
            let schema = Arc::clone(source.table_schema().table_schema());
            let unknown = Arc::new(Statistics::new_unknown(&schema));
            let known = share.pieces.iter().map(|piece| piece.file.statistics.as_ref());
            let statistics: Vec<_> = known.map(|known| Arc::clone(known.unwrap_or(&unknown))).collect();
            let is_ruled_out = vec![false; statistics.len()];
            Some(Changing { filter, tracking, was_asked: false, schema, statistics, is_ruled_out })
        };
        Self(source.filter().and_then(changing))
    }

    /// The steps of the pieces from `first` on that are ruled out now and weren't when this was asked before.
    pub(crate) fn ruled_out(&mut self, first: usize, share: &Share) -> Vec<Range<u32>> {
        let Some(changing) = &mut self.0 else { return Vec::new() };
        if changing.has_changed() { changing.ruled_out(first, share) } else { Vec::new() }
    }
}

impl Changing {
    fn has_changed(&mut self) -> bool {
        let is_first = !std::mem::replace(&mut self.was_asked, true);
        // The watcher is asked each time, so that it knows what was seen.
        let has_moved = self.tracking.watcher().is_some_and(DynamicFilterTracker::changed);
        is_first || has_moved
    }

    /// One predicate for all pieces: making it costs more than asking it.
    fn ruled_out(&mut self, first: usize, share: &Share) -> Vec<Range<u32>> {
        let later = self.statistics.get(first..).unwrap_or_default();
        if later.is_empty() {
            return Vec::new();
        }
        let predicate = build_pruning_predicate(Arc::clone(&self.filter), &self.schema, &Count::new());
        let Some(predicate) = predicate else { return Vec::new() };
        let may_have_rows =
            predicate.prune(&PrunableStatistics::new(later.to_vec(), Arc::clone(&self.schema)));
        // Statistics that the filter can't be asked of rule nothing out.
        let Ok(may_have_rows) = may_have_rows else { return Vec::new() };
        let pieces = self.is_ruled_out.iter_mut().zip(&share.steps).skip(first).zip(may_have_rows);
        let mut ruled_out = Vec::new();
        for ((is_ruled_out, steps), may_have_rows) in pieces {
            // A filter that a scan keeps only becomes narrower (`kept_filters`).
            if !may_have_rows && !std::mem::replace(is_ruled_out, true) {
                ruled_out.push(steps.clone());
            }
        }
        ruled_out
    }
}

impl std::fmt::Debug for Pruner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let pieces = self.0.as_ref().map_or(0, |changing| changing.statistics.len());
        f.debug_struct("Pruner").field("pieces", &pieces).finish_non_exhaustive()
    }
}
