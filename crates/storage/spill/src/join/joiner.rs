use nandle_io::runtime::Handle;

use super::env::JoinEnv;
use super::hybrid::{Dividing, Hybrid};
use super::matching::TableSide;
use super::sink::Output;
use super::{JoinOptions, JoinReport, JoinSink, pairs};
use crate::rows::Row;
use crate::{Place, SpillError};

/// Takes the rows of the build side, preferably the one that is shorter, in any order. Rows match where their keys are equal,
/// byte by byte.
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
/// What fits into memory stays there. When memory runs out, the largest of the partitions into which rows are divided by a hash of
/// their keys is written, and goes on being written.
pub struct Joiner {
    rows: Rows,
}

/// Takes the rows of the probe side, in any order. A row that can be answered is answered at once, the others when
/// [all have come](Self::finish).
pub struct Probing {
    rows: Rows,
}

struct Rows {
    env: JoinEnv,
    hybrid: Hybrid,
    /// A call failed, or was given up: what it left isn't whole.
    is_broken: bool,
}

impl Joiner {
    /// A join with temporary space at `place`, of a device in the runtime's world.
    ///
    /// # Errors
    /// The budget is too small for the clusters that are asked for, or is taken by something else. The device isn't there, or can't be
    /// written.
    pub fn new(handle: &Handle, place: Place, options: JoinOptions) -> Result<Self, SpillError> {
        let env = JoinEnv::new(handle, place, options)?;
        let dividing = Dividing {
            table_side: TableSide::Build,
            level: 0,
            area_bytes: env.memory.area_bytes,
            fan_out: env.plan.fan_out,
            reach: env.read_buffers(),
        };
        let hybrid = Hybrid::new(&env.options.budget, dividing, place.salt, env.plan.cluster_bytes)?;
        Ok(Self { rows: Rows { env, hybrid, is_broken: false } })
    }

    /// Takes a row of the build side.
    ///
    /// # Errors
    /// The row is longer than memory allows: the error says which budget would do. The temporary space is full, or its device failed:
    /// every later call fails then.
    pub async fn build(&mut self, row: Row<'_>) -> Result<(), SpillError> {
        let rows = &mut self.rows;
        rows.begin(row)?;
        rows.hybrid.take(row, &mut rows.env.appender).await?;
        rows.env.report.build_rows += 1;
        rows.is_broken = false;
        Ok(())
    }

    /// All rows of the build side are there.
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
    /// Takes a row of the probe side.
    ///
    /// # Errors
    /// As for [`Joiner::build`], and what the sink fails with.
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

    /// All rows of the probe side are there: joins what was written.
    ///
    /// # Errors
    /// The device failed, its space is full, or it gave back what was never written to it; or the sink failed. What came before was
    /// right.
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

    /// What was done so far.
    pub fn report(&self) -> JoinReport {
        self.rows.env.report()
    }
}

impl Rows {
    /// A row comes. Until it is taken, what there is isn't whole.
    fn begin(&mut self, row: Row<'_>) -> Result<(), SpillError> {
        if self.is_broken {
            return Err(SpillError::Failed);
        }
        let row_bytes = row.key.len().saturating_add(row.payload.len());
        if row_bytes > self.env.memory.row_bytes_max {
            return Err(SpillError::Memory {
                purpose: "a row as long as this",
                needed_bytes: (row_bytes as u64).saturating_mul(16),
                budget_bytes: self.env.options.budget.bytes() as u64,
            });
        }
        self.is_broken = true;
        Ok(())
    }
}
