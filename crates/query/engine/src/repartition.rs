//! Repartitioning with a single writer per temporary file.
//!
//! Under memory pressure the engine's operator spills rows and notifies its output, which then
//! waits for them. All input partitions share the files of an output. If two write at the same
//! time, two files are open, and the output reads only the first. It waits there for rows in the
//! second, while the inputs wait for the output: a deadlock (apache/datafusion, issue 24883; fixed
//! after version 55.2).

use std::fmt;
use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TransformedResult as _, TreeNode as _, TreeNodeRecursion};
use datafusion::common::{DataFusionError, Statistics, internal_err};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, Partitioning, PhysicalExpr};
use datafusion::physical_plan::metrics::MetricsSet;
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties as _, PlanProperties, StatisticsArgs,
};
use futures_util::stream::select_all;

/// Rewrites repartitionings so that each temporary file has a single writer.
///
/// # Errors
/// The plan is invalid.
pub fn with_single_writers(plan: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>, DataFusionError> {
    plan.transform_up(|node| {
        let Some(whole) = node.downcast_ref::<RepartitionExec>() else { return Ok(Transformed::no(node)) };
        if whole.preserve_order() || whole.input().output_partitioning().partition_count() < 2 {
            return Ok(Transformed::no(node));
        }
        Ok(Transformed::yes(Arc::new(SingleWriters::new(Arc::clone(&node))?) as _))
    })
    .data()
}

/// One repartitioning per input partition; each output merges theirs. Displayed like the original.
#[derive(Debug)]
struct SingleWriters {
    whole: Arc<dyn ExecutionPlan>,
    parts: Vec<RepartitionExec>,
}

impl SingleWriters {
    fn new(whole: Arc<dyn ExecutionPlan>) -> Result<Self, DataFusionError> {
        let [input] = *whole.children() else { return internal_err!("a repartitioning has one input") };
        let partitioning = whole.output_partitioning();
        let parts = (0..input.output_partitioning().partition_count())
            .map(|number| RepartitionExec::try_new(OnePartition::of(input, number), partitioning.clone()));
        let parts = parts.collect::<Result<_, _>>()?;
        Ok(Self { whole, parts })
    }

    /// Maps an output of a part to an output of the whole. Round-robin starts at a different output
    /// for each part, so that the first batches are spread.
    fn place(&self, part: usize, partition: usize) -> usize {
        let Partitioning::RoundRobinBatch(partitions) = self.whole.output_partitioning() else {
            return partition;
        };
        let first = part * partitions / self.parts.len();
        (partition + partitions - first) % partitions
    }
}

impl DisplayAs for SingleWriters {
    fn fmt_as(&self, format: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.whole.fmt_as(format, f)
    }
}

impl ExecutionPlan for SingleWriters {
    fn name(&self) -> &str {
        self.whole.name()
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.whole.properties()
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        self.whole.children()
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>, DataFusionError> {
        let Ok([input]) = <[_; 1]>::try_from(children) else {
            return internal_err!("a repartitioning has one input");
        };
        let whole = RepartitionExec::try_new(input, self.whole.output_partitioning().clone())?;
        with_single_writers(Arc::new(whole))
    }

    fn apply_expressions(
        &self,
        visit: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion, DataFusionError>,
    ) -> Result<TreeNodeRecursion, DataFusionError> {
        self.whole.apply_expressions(visit)
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream, DataFusionError> {
        let of_part = |(number, part): (usize, &RepartitionExec)| {
            part.execute(self.place(number, partition), Arc::clone(&context))
        };
        let streams = self.parts.iter().enumerate().map(of_part).collect::<Result<Vec<_>, _>>()?;
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), select_all(streams))))
    }

    fn metrics(&self) -> Option<MetricsSet> {
        let mut all = MetricsSet::new();
        let of_parts = self.parts.iter().filter_map(ExecutionPlan::metrics);
        for metric in of_parts.flat_map(|metrics| metrics.iter().cloned().collect::<Vec<_>>()) {
            all.push(metric);
        }
        Some(all)
    }

    fn statistics_from_inputs(
        &self,
        inputs: &[Arc<Statistics>],
        args: &StatisticsArgs,
    ) -> Result<Arc<Statistics>, DataFusionError> {
        self.whole.statistics_from_inputs(inputs, args)
    }
}

/// A single partition of a plan.
#[derive(Debug)]
struct OnePartition {
    input: Arc<dyn ExecutionPlan>,
    number: usize,
    properties: Arc<PlanProperties>,
}

impl OnePartition {
    fn of(input: &Arc<dyn ExecutionPlan>, number: usize) -> Arc<dyn ExecutionPlan> {
        let of_input = input.properties();
        let properties = PlanProperties::new(
            EquivalenceProperties::new(input.schema()),
            Partitioning::UnknownPartitioning(1),
            of_input.emission_type,
            of_input.boundedness,
        );
        let properties = properties
            .with_evaluation_type(of_input.evaluation_type)
            .with_scheduling_type(of_input.scheduling_type);
        Arc::new(Self { input: Arc::clone(input), number, properties: Arc::new(properties) })
    }
}

impl DisplayAs for OnePartition {
    fn fmt_as(&self, _format: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: partition={}", self.name(), self.number)
    }
}

impl ExecutionPlan for OnePartition {
    fn name(&self) -> &'static str {
        "OnePartition"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>, DataFusionError> {
        let Some(input) = children.first() else { return internal_err!("a partition is one of an input's") };
        Ok(Self::of(input, self.number))
    }

    fn apply_expressions(
        &self,
        _visit: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion, DataFusionError>,
    ) -> Result<TreeNodeRecursion, DataFusionError> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn execute(
        &self,
        _partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream, DataFusionError> {
        self.input.execute(self.number, context)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use arrow_array::{Int64Array, RecordBatch};
    use arrow_schema::{DataType, Field, Schema, SchemaRef};
    use datafusion::execution::disk_manager::{DiskManagerBuilder, DiskManagerMode};
    use datafusion::execution::memory_pool::GreedyMemoryPool;
    use datafusion::execution::runtime_env::RuntimeEnvBuilder;
    use datafusion::physical_expr::expressions::col;
    use datafusion::physical_plan::streaming::{PartitionStream, StreamingTableExec};
    use datafusion::prelude::SessionConfig;
    use futures_util::future::join_all;
    use futures_util::stream::{StreamExt as _, iter};

    use super::*;

    const BATCHES: i64 = 500;
    const INPUTS: i64 = 3;

    /// A stream of numbers, distinct per partition.
    #[derive(Debug)]
    struct Numbers(SchemaRef, i64);

    impl PartitionStream for Numbers {
        fn schema(&self) -> &SchemaRef {
            &self.0
        }

        fn execute(&self, _context: Arc<TaskContext>) -> SendableRecordBatchStream {
            let (schema, input) = (Arc::clone(&self.0), self.1);
            let batches = iter(0..BATCHES).map(move |number| {
                let numbers = (0..8).map(|row| (input * BATCHES + number) * 8 + row);
                Ok(RecordBatch::try_new(
                    Arc::clone(&schema),
                    vec![Arc::new(Int64Array::from_iter_values(numbers))],
                )?)
            });
            Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&self.0), batches))
        }
    }

    fn repartition(partitioning: Partitioning, schema: &SchemaRef) -> Arc<dyn ExecutionPlan> {
        let numbers = |input| Arc::new(Numbers(Arc::clone(schema), input)) as _;
        let inputs: Vec<Arc<dyn PartitionStream>> = (0..INPUTS).map(numbers).collect();
        let input = StreamingTableExec::try_new(Arc::clone(schema), inputs, None, [], false, None).unwrap();
        Arc::new(RepartitionExec::try_new(Arc::new(input), partitioning).unwrap())
    }

    async fn sum(mut rows: SendableRecordBatchStream) -> (i64, i64) {
        let (mut rows_count, mut sum) = (0, 0);
        while let Some(batch) = rows.next().await {
            for number in batch.unwrap().column(0).as_any().downcast_ref::<Int64Array>().unwrap() {
                (rows_count, sum) = (rows_count + 1, sum + number.unwrap());
            }
        }
        (rows_count, sum)
    }

    /// Without memory all rows are spilled. `DataFusion`'s own operator deadlocks here.
    #[test]
    fn rows_that_several_inputs_write_to_files_come() {
        let directory = tempfile::tempdir().unwrap();
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(4).enable_time().build().unwrap();
        let schema = Arc::new(Schema::new(vec![Field::new("number", DataType::Int64, false)]));
        let number = col("number", &schema).unwrap();
        for partitioning in [Partitioning::Hash(vec![number], 3), Partitioning::RoundRobinBatch(3)] {
            let files = DiskManagerMode::Directories(vec![directory.path().to_owned()]);
            let environment = RuntimeEnvBuilder::new()
                .with_memory_pool(Arc::new(GreedyMemoryPool::new(0)))
                .with_disk_manager_builder(DiskManagerBuilder::default().with_mode(files));
            let context = TaskContext::default()
                .with_session_config(SessionConfig::new().with_batch_size(4))
                .with_runtime(environment.build_arc().unwrap());
            let (context, plan) =
                (Arc::new(context), with_single_writers(repartition(partitioning, &schema)).unwrap());
            assert!(plan.is::<SingleWriters>());
            let outputs = (0..3).map(|output| plan.execute(output, Arc::clone(&context)).unwrap());
            let outputs: Vec<_> = outputs.map(|rows| runtime.spawn(sum(rows))).collect();
            let all = runtime
                .block_on(async { tokio::time::timeout(Duration::from_mins(2), join_all(outputs)).await });
            let all: Vec<(i64, i64)> = all.expect("it ends").into_iter().map(Result::unwrap).collect();
            let (rows, sums) = all.iter().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
            let expected = INPUTS * BATCHES * 8;
            assert_eq!((rows, sums), (expected, expected * (expected - 1) / 2));
            assert!(all.iter().all(|(rows, _)| *rows > expected / 6), "{all:?}");
        }
    }
}
