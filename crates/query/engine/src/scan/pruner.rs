//! Pruning of row groups by dynamic filters: the values seen by a join, or the best rows so far.

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

/// Statistics of a partition's pieces with a dynamic filter; `None` for a static one, which was
/// applied during planning.
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

    /// Returns the steps of pieces from `first` on that are newly pruned since the last call.
    pub(crate) fn ruled_out(&mut self, first: usize, share: &Share) -> Vec<Range<u32>> {
        let Some(changing) = &mut self.0 else { return Vec::new() };
        if changing.has_changed() { changing.ruled_out(first, share) } else { Vec::new() }
    }
}

impl Changing {
    fn has_changed(&mut self) -> bool {
        let is_first = !std::mem::replace(&mut self.was_asked, true);
        // Query the watcher each time, so that it registers the current state.
        let has_moved = self.tracking.watcher().is_some_and(DynamicFilterTracker::changed);
        is_first || has_moved
    }

    /// Builds one predicate for all pieces: building costs more than evaluation.
    fn ruled_out(&mut self, first: usize, share: &Share) -> Vec<Range<u32>> {
        let later = self.statistics.get(first..).unwrap_or_default();
        if later.is_empty() {
            return Vec::new();
        }
        let predicate = build_pruning_predicate(Arc::clone(&self.filter), &self.schema, &Count::new());
        let Some(predicate) = predicate else { return Vec::new() };
        let may_have_rows =
            predicate.prune(&PrunableStatistics::new(later.to_vec(), Arc::clone(&self.schema)));
        // If the statistics don't suit the filter, nothing is pruned.
        let Ok(may_have_rows) = may_have_rows else { return Vec::new() };
        let pieces = self.is_ruled_out.iter_mut().zip(&share.steps).skip(first).zip(may_have_rows);
        let mut ruled_out = Vec::new();
        for ((is_ruled_out, steps), may_have_rows) in pieces {
            // Filters kept by a scan only become narrower (`kept_filters`).
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
