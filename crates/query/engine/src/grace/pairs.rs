//! Joins of a partition: of its whole sides, or of pairs of buckets.

use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchOptions};
use datafusion::common::DataFusionError;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryLimit, MemoryReservation};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::PhysicalExprRef;
use datafusion::physical_plan::ExecutionPlan as _;
use datafusion::physical_plan::coop::make_cooperative;
use datafusion::physical_plan::joins::HashJoinExec;
use datafusion::physical_plan::metrics::{BaselineMetrics, ExecutionPlanMetricsSet, RecordOutput as _};
use futures_util::future::{BoxFuture, FutureExt as _};
use futures_util::stream::StreamExt as _;
use tokio::sync::mpsc::Sender;

use super::buckets::{BUFFERED_BYTES_MAX, Buckets, Division};
use super::compact::compact;
use super::figures::Figures;
use super::granted::{SMALL_BYTES_MAX, with_granted_memory};
use super::joins::{BuildSide, JoinOfSides, Joins};
use super::side::Side;
use super::stored::{Stored, stored_stream};

/// Share of the memory (1 / n) for a side that isn't partitioned, over all partitions; several
/// joins run at the same time.
const MEMORY_PART: usize = 8;
/// Maximum size of a hash table per row: twice as many slots as rows, 17 bytes each, and a link.
const TABLE_BYTES_PER_ROW: usize = 44;
/// The engine's hash join reserves memory for a copy of its build side.
const COPIES: usize = 2;
/// Limit on passes: rows that hashes can't separate are joined in memory in the end.
const DIVISIONS_MAX: u64 = 5;
/// Sixteenths of a side's bytes in one bucket from which it is considered a single key, which no
/// further pass can divide.
const SIXTEENTHS_OF_ONE_KEY: u64 = 14;

/// State shared by the joins of a partition.
pub(super) struct Pairs {
    joins: Joins,
    context: Arc<TaskContext>,
    /// Context for joins whose rows were measured to fit.
    granting: Arc<TaskContext>,
    /// Limit on the build side until it is known to fit.
    share_bytes: usize,
    memory: MemoryReservation,
    figures: Figures,
    rows: Sender<Result<RecordBatch, DataFusionError>>,
}

/// Rows of both sides, or of a bucket of each.
struct Sides {
    left: SendableRecordBatchStream,
    right: SendableRecordBatchStream,
    build_side: BuildSide,
    /// Number of partitioning passes.
    divisions: u64,
}

/// Rows of a build side.
struct Held {
    batches: Vec<RecordBatch>,
    /// True if these are all rows and their join won't be refused memory; otherwise more rows don't
    /// fit.
    fits: bool,
}

impl Pairs {
    pub(super) fn new(
        join: Arc<HashJoinExec>,
        partition: usize,
        context: Arc<TaskContext>,
        metrics: &ExecutionPlanMetricsSet,
        baseline: BaselineMetrics,
        rows: Sender<Result<RecordBatch, DataFusionError>>,
    ) -> Result<Self, DataFusionError> {
        let pool = context.memory_pool();
        let memory_bytes = match pool.memory_limit() {
            MemoryLimit::Finite(bytes) => bytes,
            _ => usize::MAX,
        };
        let partitions = join.properties().output_partitioning().partition_count();
        let share_bytes = memory_bytes / MEMORY_PART / partitions.max(1);
        let memory = MemoryConsumer::new(format!("GraceHashJoin[{partition}]")).register(pool);
        let figures = Figures::new(metrics, partition, baseline);
        let granting = with_granted_memory(&context);
        Ok(Self { joins: Joins::new(join)?, context, granting, share_bytes, memory, figures, rows })
    }

    /// Joins a partition.
    pub(super) async fn join(
        &self,
        left: SendableRecordBatchStream,
        right: SendableRecordBatchStream,
    ) -> Result<(), DataFusionError> {
        self.divided(Sides { left, right, build_side: BuildSide::Left, divisions: 0 }).await
    }

    /// Joins two sides; recurses for buckets.
    fn divided(&self, sides: Sides) -> BoxFuture<'_, Result<(), DataFusionError>> {
        async move {
            let Sides { left, right, build_side, divisions } = sides;
            let (mut build, probe) = build_side.in_order(left, right);
            let Held { batches, fits } = self.held(&mut build).await?;
            if fits || divisions == DIVISIONS_MAX {
                // The join reserves its own memory from here on.
                self.memory.free();
                let schema = build.schema();
                let build = futures_util::stream::iter(batches.into_iter().map(Ok)).chain(build);
                let sides = (Side::of(schema, build), Side::of(probe.schema(), probe));
                return self.in_memory(sides, build_side, fits).await;
            }
            self.figures.divisions.add(1);
            let (keys, probe_keys) = self.joins.keys(build_side);
            let build = self.buckets(batches, build, keys, divisions).await?;
            let probe = self.buckets(Vec::new(), probe, probe_keys, divisions).await?;
            let (left, right) = build_side.in_order(build, probe);
            let all_bytes = (all_bytes_of(&left), all_bytes_of(&right));
            for (left, right) in left.into_iter().zip(right) {
                // Two empty buckets have no result.
                if left.is_some() || right.is_some() {
                    self.divided(self.pair(left, right, all_bytes, divisions)?).await?;
                }
            }
            Ok(())
        }
        .boxed()
    }

    /// Opens a bucket of each side. `all_bytes` is the size of all buckets, `divisions` the number
    /// of earlier passes.
    fn pair(
        &self,
        left: Option<Stored>,
        right: Option<Stored>,
        all_bytes: (u64, u64),
        divisions: u64,
    ) -> Result<Sides, DataFusionError> {
        let (left_bytes, right_bytes) = (bytes_of(left.as_ref()), bytes_of(right.as_ref()));
        let build_side = self.joins.build_side(left_bytes, right_bytes);
        let (bytes, _) = build_side.in_order(left_bytes, right_bytes);
        let (all_bytes, _) = build_side.in_order(all_bytes.0, all_bytes.1);
        // Several frequent keys may share a bucket in one pass, but hardly in two.
        let is_of_one_key = divisions > 0 && bytes * 16 > all_bytes * SIXTEENTHS_OF_ONE_KEY;
        let (join, restoring) = (self.joins.usual(), &self.figures.restoring);
        Ok(Sides {
            left: stored_stream(left, &join.left().schema(), restoring)?,
            right: stored_stream(right, &join.right().schema(), restoring)?,
            build_side,
            divisions: if is_of_one_key { DIVISIONS_MAX } else { divisions + 1 },
        })
    }

    /// Reads rows into memory until the end, or until it is full.
    async fn held(&self, rows: &mut SendableRecordBatchStream) -> Result<Held, DataFusionError> {
        let mut batches = Vec::new();
        while let Some(batch) = rows.next().await.transpose()? {
            let copying = self.figures.dividing.timer();
            let (batch, bytes) = compact(batch)?;
            copying.done();
            let bytes = (bytes + batch.num_rows() * TABLE_BYTES_PER_ROW) * COPIES;
            batches.push(batch);
            let all_bytes = self.memory.size() + bytes;
            if all_bytes <= SMALL_BYTES_MAX {
                self.memory.grow(bytes);
            } else if all_bytes > self.share_bytes || self.memory.try_grow(bytes).is_err() {
                return Ok(Held { batches, fits: false });
            }
        }
        Ok(Held { batches, fits: true })
    }

    /// Partitions rows, starting with those in memory.
    async fn buckets(
        &self,
        held: Vec<RecordBatch>,
        mut rows: SendableRecordBatchStream,
        keys: Vec<PhysicalExprRef>,
        divisions: u64,
    ) -> Result<Vec<Option<Stored>>, DataFusionError> {
        let environment = self.context.runtime_env();
        let division = Division {
            number: divisions,
            buffered_bytes_max: self.share_bytes.min(BUFFERED_BYTES_MAX),
            null_equality: self.joins.usual().null_equality(),
        };
        let mut buckets = Buckets::new(environment, rows.schema(), keys, division, &self.figures.spill);
        // Their memory is reserved already, with room for buffers.
        for batch in held {
            let dividing = self.figures.dividing.timer();
            buckets.add(batch)?;
            dividing.done();
        }
        while let Some(batch) = rows.next().await.transpose()? {
            let dividing = self.figures.dividing.timer();
            buckets.add(batch)?;
            dividing.done();
            // The rows are within this join's share of the memory.
            self.memory.resize(buckets.buffered_bytes());
        }
        let dividing = self.figures.dividing.timer();
        let stored = buckets.finish();
        dividing.done();
        self.memory.free();
        stored
    }

    /// Runs `DataFusion`'s hash join. If the rows were measured to fit, memory isn't refused, even
    /// if others have reserved it since.
    async fn in_memory(
        &self,
        (build, probe): (Arc<Side>, Arc<Side>),
        build_side: BuildSide,
        fits: bool,
    ) -> Result<(), DataFusionError> {
        let (left, right) = build_side.in_order(build, probe);
        let JoinOfSides { plan, join } = self.joins.of(left, right, build_side)?;
        let context = if fits { &self.granting } else { &self.context };
        let sent = self.send(make_cooperative(plan.execute(0, Arc::clone(context))?)).await;
        if let Some(of_join) = join.metrics() {
            self.figures.add(&of_join);
        }
        sent
    }

    async fn send(&self, mut joined: SendableRecordBatchStream) -> Result<(), DataFusionError> {
        while let Some(batch) = joined.next().await.transpose()? {
            // A swapped join may differ in the nullability of columns.
            let rows = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
            let batch = RecordBatch::try_new_with_options(
                self.joins.usual().schema(),
                batch.columns().to_vec(),
                &rows,
            )?;
            let batch = batch.record_output(&self.figures.rows);
            if self.rows.send(Ok(batch)).await.is_err() {
                break; // nothing wants rows any more
            }
        }
        Ok(())
    }
}

fn bytes_of(stored: Option<&Stored>) -> u64 {
    stored.map_or(0, |stored| stored.bytes)
}

fn all_bytes_of(stored: &[Option<Stored>]) -> u64 {
    stored.iter().flatten().map(|stored| stored.bytes).sum()
}
