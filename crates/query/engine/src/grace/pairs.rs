//! The joins of a partition: of its sides as they are, or of pairs of buckets.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use datafusion::common::DataFusionError;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryLimit, MemoryReservation};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::PhysicalExprRef;
use datafusion::physical_plan::ExecutionPlan as _;
use datafusion::physical_plan::coop::make_cooperative;
use datafusion::physical_plan::joins::HashJoinExec;
use datafusion::physical_plan::metrics::{BaselineMetrics, ExecutionPlanMetricsSet, SpillMetrics};
use futures_util::future::{BoxFuture, FutureExt as _};
use futures_util::stream::StreamExt as _;
use tokio::sync::mpsc::Sender;

use super::buckets::{BUFFERED_BYTES_MAX, Buckets, Division};
use super::compact::compact;
use super::side::Side;
use super::stored::{Stored, stored_stream};

/// A join's left side stays in memory where it takes no more than this part of it, all partitions together: several joins run at a time.
const MEMORY_PART: usize = 8;
/// What a hash table takes of a row, at most: places for twice the rows, of 17 bytes each, and a link.
const TABLE_BYTES_PER_ROW: usize = 44;
/// The engine's memory has room for a copy of what joins gather.
const COPIES: usize = 2;
/// Rows that a hash can't tell apart are joined in memory after so many divisions.
const DIVISIONS_MAX: u64 = 5;
/// Where so many parts of sixteen of the left side's bytes are in one bucket, that is one key's, and no division makes it less.
const SIXTEENTHS_OF_ONE_KEY: u64 = 14;

/// What the joins of a partition have in common.
pub(super) struct Pairs {
    join: Arc<HashJoinExec>,
    context: Arc<TaskContext>,
    /// What the left side may take while it isn't known whether it fits.
    share_bytes: usize,
    memory: MemoryReservation,
    spill: SpillMetrics,
    baseline: BaselineMetrics,
    rows: Sender<Result<RecordBatch, DataFusionError>>,
}

impl Pairs {
    pub(super) fn new(
        join: Arc<HashJoinExec>,
        partition: usize,
        context: Arc<TaskContext>,
        metrics: &ExecutionPlanMetricsSet,
        baseline: BaselineMetrics,
        rows: Sender<Result<RecordBatch, DataFusionError>>,
    ) -> Self {
        let pool = context.memory_pool();
        let memory_bytes = match pool.memory_limit() {
            MemoryLimit::Finite(bytes) => bytes,
            _ => usize::MAX,
        };
        let partitions = join.properties().output_partitioning().partition_count();
        let share_bytes = memory_bytes / MEMORY_PART / partitions.max(1);
        let memory = MemoryConsumer::new(format!("GraceHashJoin[{partition}]")).register(pool);
        let spill = SpillMetrics::new(metrics, partition);
        Self { join, context, share_bytes, memory, spill, baseline, rows }
    }

    /// Joins a partition.
    pub(super) async fn join(
        &self,
        left: SendableRecordBatchStream,
        right: SendableRecordBatchStream,
    ) -> Result<(), DataFusionError> {
        self.divided(left, right, 0).await
    }

    /// Joins two sides that were divided so many times. It calls itself for buckets.
    fn divided(
        &self,
        mut left: SendableRecordBatchStream,
        right: SendableRecordBatchStream,
        divisions: u64,
    ) -> BoxFuture<'_, Result<(), DataFusionError>> {
        async move {
            let schema = left.schema();
            let mut held = Vec::new();
            if self.is_held(&mut left, &mut held, divisions).await? {
                self.memory.free();
                let held = futures_util::stream::iter(held.into_iter().map(Ok)).chain(left);
                return self.in_memory(Side::of(schema, held), Side::of(right.schema(), right)).await;
            }
            let (left_keys, right_keys) = self.join.on().iter().cloned().unzip();
            let held = futures_util::stream::iter(held.into_iter().map(Ok));
            let left = self.buckets(held.chain(left), &schema, left_keys, divisions).await?;
            let schema = right.schema();
            let right = self.buckets(right, &schema, right_keys, divisions).await?;
            let left_bytes: u64 = left.iter().flatten().map(|left| left.bytes).sum();
            for (left, right) in left.into_iter().zip(right) {
                let bytes = left.as_ref().map_or(0, |left| left.bytes);
                let is_of_one_key = bytes * 16 > left_bytes * SIXTEENTHS_OF_ONE_KEY;
                let divisions = if is_of_one_key { DIVISIONS_MAX } else { divisions + 1 };
                // Of two buckets without rows nothing comes.
                if left.is_some() || right.is_some() {
                    let left = stored_stream(left, &self.join.left().schema());
                    let right = stored_stream(right, &self.join.right().schema());
                    self.divided(left?, right?, divisions).await?;
                }
            }
            Ok(())
        }
        .boxed()
    }

    /// Takes rows into memory until there are none left, or no room; whether there are none left.
    async fn is_held(
        &self,
        left: &mut SendableRecordBatchStream,
        held: &mut Vec<RecordBatch>,
        divisions: u64,
    ) -> Result<bool, DataFusionError> {
        if divisions == DIVISIONS_MAX {
            return Ok(true);
        }
        while let Some(batch) = left.next().await.transpose()? {
            let (batch, bytes) = compact(batch)?;
            let bytes = (bytes + batch.num_rows() * TABLE_BYTES_PER_ROW) * COPIES;
            held.push(batch);
            if self.memory.size() + bytes > self.share_bytes || self.memory.try_grow(bytes).is_err() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    async fn buckets(
        &self,
        mut rows: impl futures_util::Stream<Item = Result<RecordBatch, DataFusionError>> + Unpin,
        schema: &SchemaRef,
        keys: Vec<PhysicalExprRef>,
        divisions: u64,
    ) -> Result<Vec<Option<Stored>>, DataFusionError> {
        let environment = self.context.runtime_env();
        let division = Division {
            number: divisions,
            buffered_bytes_max: self.share_bytes.min(BUFFERED_BYTES_MAX),
            null_equality: self.join.null_equality(),
        };
        let mut buckets = Buckets::new(environment, Arc::clone(schema), keys, division, &self.spill);
        while let Some(batch) = rows.next().await.transpose()? {
            buckets.add(batch)?;
            // It is bounded by this join's share, and there already.
            self.memory.resize(buckets.buffered_bytes());
        }
        let stored = buckets.finish();
        self.memory.free();
        stored
    }

    /// `DataFusion`'s hash join of two sides.
    async fn in_memory(&self, left: Arc<Side>, right: Arc<Side>) -> Result<(), DataFusionError> {
        let join = self.join.builder().reset_state().recompute_properties();
        let join = join.with_new_children(vec![Side::plan(left)?, Side::plan(right)?])?.build()?;
        let mut joined = make_cooperative(join.execute(0, Arc::clone(&self.context))?);
        while let Some(batch) = joined.next().await.transpose()? {
            self.baseline.record_output(batch.num_rows());
            if self.rows.send(Ok(batch)).await.is_err() {
                break; // nothing wants rows any more
            }
        }
        Ok(())
    }
}
