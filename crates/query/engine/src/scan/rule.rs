//! The last optimizer rule: replaces scans of planned tables by planned scans.

use std::sync::Arc;

use datafusion::catalog::Session;
use datafusion::common::DataFusionError;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult as _, TreeNode as _, TreeNodeRecursion};
use datafusion::datasource::physical_plan::{
    FileGroup, FileScanConfig, FileScanConfigBuilder, ParquetSource,
};
use datafusion::datasource::source::DataSourceExec;
use datafusion::execution::memory_pool::MemoryLimit;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use nandle_reads::Strategy;

use super::planned::PlannedScan;
use super::pruning::soundly_pruned;
use crate::engine::{EngineOptions, ThreadClock};
use crate::options::{NandleOptions, Reads};
use crate::table::FileOf;

/// Share of the memory (1 / n) for the reads of all queries; operators get the rest.
const READS_PART: u64 = 4;

impl EngineOptions {
    /// Memory for the reads of one query.
    pub fn reads_bytes(&self) -> u64 {
        self.memory_bytes / READS_PART / self.queries.get() as u64
    }
}

/// Optimizer rule that plans the reads of a query.
#[derive(Debug)]
pub(crate) struct PlanReads {
    memory_bytes: u64,
    clock: ThreadClock,
}

impl PlanReads {
    pub(crate) fn new(options: &EngineOptions) -> Self {
        let memory_bytes = options.reads_bytes();
        Self { memory_bytes, clock: options.thread_clock }
    }

    fn planned(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        strategy: Strategy,
        memory_bytes: u64,
    ) -> Result<Transformed<Arc<dyn ExecutionPlan>>, DataFusionError> {
        let Some((config, source)) = scan_of(&plan) else { return Ok(Transformed::no(plan)) };
        let scan = PlannedScan::new(config, source, strategy, memory_bytes, self.clock)?;
        Ok(match scan {
            Some(scan) => Transformed::yes(Arc::new(DataSourceExec::new(Arc::new(scan)))),
            None => Transformed::no(plan),
        })
    }
}

impl PhysicalOptimizerRule for PlanReads {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        config: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>, DataFusionError> {
        let reads = config.extensions.get::<NandleOptions>().map(|options| options.reads);
        let Reads::Planned(strategy) = reads.unwrap_or_default() else {
            return plan.transform_up(|node| Ok(soundly_read(node))).data();
        };
        let memory_bytes = self.memory_bytes / partitions(&plan)?.max(1);
        let plan = plan.transform_up(|node| self.planned(node, strategy, memory_bytes))?;
        Ok(plan.data)
    }

    fn name(&self) -> &'static str {
        "plan_reads"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// Returns the engine's own scan with correct pruning.
fn soundly_read(plan: Arc<dyn ExecutionPlan>) -> Transformed<Arc<dyn ExecutionPlan>> {
    let Some((config, source)) = scan_of(&plan) else { return Transformed::no(plan) };
    let source = Arc::new(soundly_pruned(source));
    let config = FileScanConfigBuilder::from(config.clone()).with_source(source).build();
    Transformed::yes(DataSourceExec::from_data_source(config))
}

/// Counts the partitions of all planned scans, which may run concurrently.
fn partitions(plan: &Arc<dyn ExecutionPlan>) -> Result<u64, DataFusionError> {
    let mut partitions = 0;
    plan.apply(|node| {
        partitions += scan_of(node).map_or(0, |(config, _)| config.file_groups.len() as u64);
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(partitions)
}

/// Returns the scan of a planned table, before its reads are planned.
pub(super) fn scan_of(plan: &Arc<dyn ExecutionPlan>) -> Option<(&FileScanConfig, &ParquetSource)> {
    let config = plan.downcast_ref::<DataSourceExec>()?.data_source().downcast_ref::<FileScanConfig>()?;
    let source = config.file_source().downcast_ref::<ParquetSource>()?;
    let mut files = config.file_groups.iter().flat_map(FileGroup::iter);
    files.next()?.extension::<FileOf>()?;
    Some((config, source))
}

/// Predicts the time of a scan with its predicates; that of the device if the decoding time is
/// unknown.
pub(crate) fn predicted_seconds(
    config: &FileScanConfig,
    source: &ParquetSource,
    state: &dyn Session,
    clock: ThreadClock,
) -> Result<f64, DataFusionError> {
    let reads = state.config_options().extensions.get::<NandleOptions>().map(|options| options.reads);
    let strategy = match reads.unwrap_or_default() {
        Reads::Planned(strategy) => strategy,
        Reads::Engine => Strategy::Flexible,
    };
    let memory_bytes = match state.runtime_env().memory_pool.memory_limit() {
        MemoryLimit::Finite(bytes) => bytes as u64 / READS_PART / config.file_groups.len().max(1) as u64,
        _ => u64::MAX,
    };
    let scan = PlannedScan::new(config, source, strategy, memory_bytes, clock)?;
    let seconds = |scan: &PlannedScan| scan.seconds().unwrap_or(scan.told.device_seconds).value;
    Ok(scan.as_ref().map_or(0.0, seconds))
}
