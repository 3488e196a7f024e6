//! Allow-list of nodes in a received plan: those that compute, read a table, or exchange rows
//! between machines. Others are rejected, so that no plan writes a file or reads one outside of the
//! tables.

use std::sync::Arc;

use datafusion::datasource::physical_plan::{FileScanConfig, ParquetSource};
use datafusion::datasource::source::DataSourceExec;
use datafusion::physical_plan::ExecutionPlan;
use datafusion_datasource::memory::MemorySourceConfig;

use crate::EngineError;

/// Nodes that transform or generate rows.
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

/// Nodes of the distributing library that exchange rows between stages.
const PASSING: [&str; 6] = [
    "BroadcastExec",
    "ChildrenIsolatorUnionExec",
    "NetworkBroadcastExec",
    "NetworkCoalesceExec",
    "NetworkShuffleExec",
    "SamplerExec",
];

/// Rejects a node that isn't on the list. That a scan's files belong to a table is checked when
/// they are resolved.
pub(super) fn check(node: &Arc<dyn ExecutionPlan>) -> Result<(), EngineError> {
    let refuse = |what: String, why| Err(EngineError::Refused { what, why });
    let Some(scan) = node.downcast_ref::<DataSourceExec>() else {
        // Some sorts append their variant in brackets.
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
