//! Runs a workload in an idle world, and checks its result.

use nandle_io::Nanos;
use nandle_io::runtime::{Handle, Runtime};
use nandle_spill::{Place, SpillCosts};

use crate::data::{RowChecksum, RowGenerator};
use crate::input::Table;
use crate::outcome::{AreaFigures, JoinFigures, Phase, SortFigures};
use crate::recorder::{Record, Recorder};
use crate::{Area, InputContents, Operator, Outcome, Role, Workload, WorkloadError, World, joining, sorting};

/// Rows between two checks for cancellation.
pub(crate) const CANCEL_CHECK_ROWS: u64 = 8192;

/// State shared by sorting and joining.
pub(crate) struct Job<'a> {
    pub(crate) handle: Handle,
    pub(crate) workload: Workload,
    pub(crate) data: RowGenerator,
    pub(crate) costs: SpillCosts,
    pub(crate) input: Option<Area>,
    pub(crate) place: Place,
    pub(crate) output: Option<Area>,
    pub(crate) contents: InputContents,
    is_cancelled: &'a dyn Fn() -> bool,
}

impl Job<'_> {
    pub(crate) fn table(&self, number: u64) -> Result<Table<'_>, WorkloadError> {
        Table::new(&self.handle, self.input, self.contents, &self.data, number)
    }

    pub(crate) fn check_cancelled(&self) -> Result<(), WorkloadError> {
        if (self.is_cancelled)() { Err(WorkloadError::Cancelled) } else { Ok(()) }
    }

    /// Compares the result with the expected rows.
    pub(crate) fn check_result(&self, rows: u64, sum: RowChecksum) -> Result<(), WorkloadError> {
        if rows != self.workload.rows {
            let what = format!("it has {rows} rows instead of {}", self.workload.rows);
            return Err(WorkloadError::Wrong { what });
        }
        if sum != self.data.expected(&self.workload) {
            let what = "it has the right number of rows, but wrong contents".to_owned();
            return Err(WorkloadError::Wrong { what });
        }
        Ok(())
    }
}

/// Result of an operator.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OperatorResult {
    /// Time until the last temporary data was written, except by merges.
    pub(crate) first: Nanos,
    /// Time from then until the result was written.
    pub(crate) second: Nanos,
    pub(crate) result_rows: u64,
    pub(crate) cluster_bytes: usize,
    pub(crate) memory_used_bytes: usize,
    pub(crate) sort: Option<SortFigures>,
    pub(crate) join: Option<JoinFigures>,
}

/// Sorts or joins, and checks the result. Calls `is_cancelled` at intervals.
///
/// Nothing is flushed: the run ends when the last write has completed.
///
/// # Errors
///
/// The workload is invalid, memory or temporary space is short, a device failed, or the result is
/// wrong.
pub fn run(
    world: World,
    workload: &Workload,
    costs: &SpillCosts,
    is_cancelled: &dyn Fn() -> bool,
) -> Result<Outcome, WorkloadError> {
    workload.check()?;
    let World { input, temporary, output, contents, .. } = world;
    let place = Place {
        device: temporary.device,
        start_bytes: temporary.start_bytes,
        length_bytes: temporary.length_bytes,
        salt: salt(&world, workload),
        discards: false,
    };
    let (recorder, record) = Recorder::wrap(world);
    let runtime = Runtime::new(Box::new(recorder));
    let job = Job {
        handle: runtime.handle(),
        workload: *workload,
        data: RowGenerator::of(workload),
        costs: costs.clone(),
        input,
        place,
        output,
        contents,
        is_cancelled,
    };
    let done = runtime.block_on(async {
        match workload.operator {
            Operator::Sort => sorting::run(&job).await,
            Operator::Join => joining::run(&job).await,
        }
    })?;
    let record = record.borrow();
    Ok(outcome(workload, done, &record))
}

/// Salt of the temporary space. On a real device, the time distinguishes this run from earlier ones
/// in the same place. A modelled device is new in each world, so its clock is the same in every
/// run.
fn salt(world: &World, workload: &Workload) -> u64 {
    world.io.now().0.rotate_left(32) ^ workload.seed
}

fn outcome(workload: &Workload, done: OperatorResult, record: &Record) -> Outcome {
    let [first, second] = workload.operator.phases();
    let areas = Role::ALL.map(|role| AreaFigures::of(role, record.area(role)));
    Outcome {
        memory_bytes: workload.memory_bytes as u64,
        cluster_bytes: done.cluster_bytes as u64,
        phases: [
            Phase { name: first, elapsed_ns: done.first.0 },
            Phase { name: second, elapsed_ns: done.second.0 },
        ],
        elapsed_ns: done.first.0 + done.second.0,
        result_records: done.result_rows,
        memory_used_bytes: done.memory_used_bytes as u64,
        sort: done.sort,
        join: done.join,
        areas: areas.to_vec(),
        pattern: Some(record.pattern()),
    }
}

/// Writes the tables to the input area, before a run with [`InputContents::OnDevice`].
///
/// # Errors
/// As for [`run`].
pub fn fill(world: World, workload: &Workload) -> Result<(), WorkloadError> {
    workload.check()?;
    let (input, data) = (world.input, RowGenerator::of(workload));
    let runtime = Runtime::new(world.io);
    let handle = runtime.handle();
    runtime.block_on(async {
        for number in 0..workload.operator.tables() {
            Table::new(&handle, input, InputContents::OnDevice, &data, number)?.write().await?;
        }
        Ok(())
    })
}
