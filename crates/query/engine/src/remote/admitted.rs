//! Which nodes a plan may have that has arrived: those that compute, that read a table, or that pass rows between machines. All others are refused, so
//! that no plan writes a file, or reads one that is no table's.

use std::sync::Arc;

use datafusion::datasource::physical_plan::{FileScanConfig, ParquetSource};
use datafusion::datasource::source::DataSourceExec;
use datafusion::physical_plan::ExecutionPlan;
use datafusion_datasource::memory::MemorySourceConfig;

use crate::EngineError;

/// What computes on rows that come to it, and what makes some of nothing.
const COMPUTING: [&str; 27] = [
    "AggregateExec",
    "BoundedWindowAggExec",
    "BufferExec",
    "CoalesceBatchesExec",
    "CoalescePartitionsExec",
    "CooperativeExec",
    "CrossJoinExec",
    "EmptyExec",
    "FilterExec",
    "GlobalLimitExec",
    "GraceHashJoin",
    "HashJoinExec",
    "InterleaveExec",
    "LazyMemoryExec",
    "LocalLimitExec",
    "NestedLoopJoinExec",
    "OuterSide",
    "PlaceholderRowExec",
    "ProjectionExec",
    "RepartitionExec",
    "ScalarSubqueryExec",
    "SortExec",
    "SortMergeJoinExec",
    "SortPreservingMergeExec",
    "UnionExec",
    "UnnestExec",
    "WindowAggExec",
];

/// What passes rows between stages, of the library that distributes.
const PASSING: [&str; 6] = [
    "BroadcastExec",
    "ChildrenIsolatorUnionExec",
    "NetworkBroadcastExec",
    "NetworkCoalesceExec",
    "NetworkShuffleExec",
    "SamplerExec",
];

/// Refuses a node that isn't one of these. That the files of a scan are a table's is checked where they are looked for.
pub(super) fn check(node: &Arc<dyn ExecutionPlan>) -> Result<(), EngineError> {
    let refuse = |what: String, why| Err(EngineError::Refused { what, why });
    let Some(scan) = node.downcast_ref::<DataSourceExec>() else {
        // A sort says in brackets that it is one of few rows.
        let name = node.name().split('(').next().unwrap_or_default();
        if COMPUTING.contains(&name) || PASSING.contains(&name) {
            return Ok(());
        }
        return refuse(
            format!("{name} in a part of a query"),
            "a worker computes, and reads the tables that it was started with; nothing else",
        );
    };
    let source = scan.data_source();
    let is_parquet = source
        .downcast_ref::<FileScanConfig>()
        .is_some_and(|config| config.file_source().downcast_ref::<ParquetSource>().is_some());
    if is_parquet || source.downcast_ref::<MemorySourceConfig>().is_some() {
        return Ok(());
    }
    refuse("a scan of other than Parquet".to_owned(), "a worker reads the tables that it was started with")
}
