use nandle_io::runtime::Handle;

use super::env::JoinEnv;
use super::hybrid::{Hybrid, PartitionOptions};
use super::matching::TableSide;
use super::sink::Output;
use super::{JoinOptions, JoinReport, JoinSink, pairs};
use crate::rows::Row;
use crate::{Place, SpillError};

/// Build phase of a hash join. Takes the rows of the build side, preferably the smaller one, in any
/// order. Rows match if their keys are equal, byte by byte.
///
/// ```
/// use nandle_io::conformance::MemoryWorld;
/// use nandle_io::runtime::Runtime;
/// use nandle_spill::{Budget, JoinKind, JoinOptions, Joiner, Place, Row, SpillCosts, SpillError};
///
/// let mut world = MemoryWorld::new(16, nandle_io::Nanos::from_micros(20));
/// let device = world.add(1 << 20, 512).id;
/// let runtime = Runtime::new(Box::new(world));
/// let handle = runtime.handle();
/// let mut joined = Vec::new();
/// runtime.block_on(async {
///     let place = Place { device, start_bytes: 0, length_bytes: 1 << 20, salt: 1, discards: false };
///     let options = JoinOptions::new(Budget::new(64 << 10)?, SpillCosts::default(), JoinKind::Left);
///     let mut joiner = Joiner::new(&handle, place, options)?;
///     joiner.build(Row { key: b"de", payload: b"Germany" }).await?;
///     let mut probing = joiner.finish_build().await?;
///     let mut sink = |build: Option<Row<'_>>, probe: Row<'_>| {
///         joined.push((build.map(|build| build.payload.to_vec()), probe.payload.to_vec()));
///     };
///     probing.probe(Row { key: b"de", payload: b"Bremen" }, &mut sink).await?;
///     probing.probe(Row { key: b"fr", payload: b"Brest" }, &mut sink).await?;
///     probing.finish(&mut sink).await?;
///     Ok::<_, SpillError>(())
/// })?;
/// assert_eq!(joined, [(Some(b"Germany".to_vec()), b"Bremen".to_vec()), (None, b"Brest".to_vec())]);
/// # Ok::<_, SpillError>(())
/// ```
///
/// Rows that fit stay in memory. A hash of the key divides them into partitions. When memory runs
/// out, the largest partition is destaged, and its later rows are written, too.
pub struct Joiner {
    rows: Rows,
}

/// Probe phase of a hash join. Takes the rows of the probe side in any order. Rows of resident
/// partitions are joined at once, the others in [`finish`](Self::finish).
pub struct Probing {
    rows: Rows,
}

struct Rows {
    env: JoinEnv,
    hybrid: Hybrid,
    /// A call failed or was cancelled: the state is incomplete.
    is_broken: bool,
}

impl Joiner {
    /// Creates a join with temporary space at `place`, on a device of the runtime's world.
    ///
    /// # Errors
    ///
    /// The budget is too small for the requested clusters, or partly in use. The device doesn't
    /// exist, or is read-only.
    pub fn new(handle: &Handle, place: Place, options: JoinOptions) -> Result<Self, SpillError> {
        let env = JoinEnv::new(handle, place, options)?;
        let dividing = PartitionOptions {
            table_side: TableSide::Build,
            level: 0,
            area_bytes: env.memory.area_bytes,
            fan_out: env.plan.fan_out,
            reach: env.read_buffers(),
        };
        let hybrid = Hybrid::new(&env.options.budget, dividing, place.salt, env.plan.cluster_bytes)?;
        Ok(Self { rows: Rows { env, hybrid, is_broken: false } })
    }

    /// Adds a row of the build side.
    ///
    /// # Errors
    ///
    /// The row is too long for the budget: the error states a sufficient one. The temporary space
    /// is full, or its device failed: every later call fails, too.
    pub async fn build(&mut self, row: Row<'_>) -> Result<(), SpillError> {
        let rows = &mut self.rows;
        rows.begin(row)?;
        rows.hybrid.take(row, &mut rows.env.appender).await?;
        rows.env.report.build_rows += 1;
        rows.is_broken = false;
        Ok(())
    }

    /// Ends the build side.
    ///
    /// # Errors
    /// As for [`build`](Self::build).
    pub async fn finish_build(mut self) -> Result<Probing, SpillError> {
        if self.rows.is_broken {
            return Err(SpillError::Failed);
        }
        self.rows.hybrid.finish_first(&mut self.rows.env.appender).await?;
        Ok(Probing { rows: self.rows })
    }
}

impl Probing {
    /// Joins or stores a row of the probe side.
    ///
    /// # Errors
    ///
    /// As for [`Joiner::build`], or an error of the sink.
    pub async fn probe<S: JoinSink>(&mut self, row: Row<'_>, sink: &mut S) -> Result<(), S::Error> {
        let rows = &mut self.rows;
        rows.begin(row)?;
        let mut output = Output::new(rows.env.options.kind, sink);
        rows.hybrid.meet(row, &mut rows.env.appender, &mut output).await?;
        rows.env.report.probe_rows += 1;
        rows.env.report.result_rows += output.rows;
        rows.is_broken = false;
        Ok(())
    }

    /// Ends the probe side and joins the written partitions.
    ///
    /// # Errors
    ///
    /// The device failed, its space is full, or it returned other data than was written; or the
    /// sink failed. Rows passed to the sink before an error are correct.
    pub async fn finish<S: JoinSink>(self, sink: &mut S) -> Result<JoinReport, S::Error> {
        let Rows { mut env, hybrid, is_broken } = self.rows;
        if is_broken {
            return Err(SpillError::Failed.into());
        }
        let mut output = Output::new(env.options.kind, sink);
        env.report.filtered_rows = hybrid.filtered_rows;
        let written = hybrid.finish(&mut env.appender, &mut output).await?;
        env.report.spilled_partitions = written.len() as u64;
        if !written.is_empty() {
            pairs::join(&mut env, written, &mut output).await?;
        }
        env.report.result_rows += output.rows;
        Ok(env.report())
    }

    /// Returns the statistics so far.
    pub fn report(&self) -> JoinReport {
        self.rows.env.report()
    }
}

impl Rows {
    /// Checks a row, and marks the state as broken until the row has been taken.
    fn begin(&mut self, row: Row<'_>) -> Result<(), SpillError> {
        if self.is_broken {
            return Err(SpillError::Failed);
        }
        let row_bytes = row.key.len().saturating_add(row.payload.len());
        if row_bytes > self.env.memory.row_bytes_max {
            return Err(SpillError::Memory {
                purpose: "a row of this length",
                needed_bytes: (row_bytes as u64).saturating_mul(16),
                budget_bytes: self.env.options.budget.bytes() as u64,
            });
        }
        self.is_broken = true;
        Ok(())
    }
}
