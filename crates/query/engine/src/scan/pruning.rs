//! By what of a filter row groups and pages are left out. What is left of it lets more rows pass than the filter does, never fewer: the engine evaluates the
//! whole one on what was read.

use std::sync::Arc;

use datafusion::datasource::physical_plan::{FileSource as _, ParquetSource};
use datafusion::physical_expr::PhysicalExpr;

use super::{floats, long_lists};

/// The same scan, by whose filter no row is left out that fulfils it, in little time.
pub(super) fn quickly_pruned(source: &ParquetSource) -> ParquetSource {
    match source.filter() {
        // There it is no matter of leaving out.
        Some(_) if is_evaluated_by_decoder(source) => soundly_pruned(source),
        Some(filter) => pruned_by(source, &long_lists::shortened(&filter)),
        None => source.clone(),
    }
}

/// The same scan, by whose filter no row is left out that fulfils it. Where the decoder evaluates it, it stays whole, and nothing is left out by the bounds of
/// floating-point numbers.
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

/// Whether the decoder leaves the rows out that the filter rules out.
pub(super) fn is_evaluated_by_decoder(source: &ParquetSource) -> bool {
    source.table_parquet_options().global.pushdown_filters
}

fn pruned_by(source: &ParquetSource, filter: &Arc<dyn PhysicalExpr>) -> ParquetSource {
    let part = floats::prunable(filter, source.table_schema().table_schema());
    source.with_predicate(part.unwrap_or_else(|| Arc::clone(filter)))
}
