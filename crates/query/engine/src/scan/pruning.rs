//! Filters used for pruning. They are weaker than the query's filter, never stronger: the engine
//! evaluates the whole filter on the rows read.

use std::sync::Arc;

use datafusion::datasource::physical_plan::{FileSource as _, ParquetSource};
use datafusion::physical_expr::PhysicalExpr;

use super::{floats, long_lists};

/// Returns the scan with a filter that prunes correctly and fast.
pub(super) fn quickly_pruned(source: &ParquetSource) -> ParquetSource {
    match source.filter() {
        // The decoder evaluates the filter, so its cost doesn't matter.
        Some(_) if is_evaluated_by_decoder(source) => soundly_pruned(source),
        Some(filter) => pruned_by(source, &long_lists::shortened(&filter)),
        None => source.clone(),
    }
}

/// Returns the scan with a filter that prunes correctly. If the decoder evaluates the filter, it
/// stays whole, and pruning by floating-point bounds is disabled.
pub(super) fn soundly_pruned(source: &ParquetSource) -> ParquetSource {
    let Some(filter) = source.filter() else { return source.clone() };
    if !is_evaluated_by_decoder(source) {
        return pruned_by(source, &filter);
    }
    let mut options = source.table_parquet_options().clone();
    if floats::prunable(&filter, source.table_schema().table_schema()).is_some() {
        (options.global.pruning, options.global.enable_page_index) = (false, false);
    }
    source.clone().with_table_parquet_options(options)
}

/// Returns true if the decoder evaluates the filter.
pub(super) fn is_evaluated_by_decoder(source: &ParquetSource) -> bool {
    source.table_parquet_options().global.pushdown_filters
}

fn pruned_by(source: &ParquetSource, filter: &Arc<dyn PhysicalExpr>) -> ParquetSource {
    let part = floats::prunable(filter, source.table_schema().table_schema());
    source.with_predicate(part.unwrap_or_else(|| Arc::clone(filter)))
}
