//! A run, from an idle world to checked figures.

use nandle_io::Nanos;
use nandle_io::runtime::{Handle, Runtime};
use nandle_spill::{Place, SpillCosts};

use crate::data::{Data, Sum};
use crate::input::Table;
use crate::outcome::{AreaFigures, JoinFigures, Phase, SortFigures};
use crate::recorder::{Record, Recorder};
use crate::{Area, InputContents, Operator, Outcome, Role, Workload, WorkloadError, World, joining, sorting};

/// Rows between two looks whether the caller wants more.
pub(crate) const LOOK_ROWS: u64 = 8192;

/// What sorting and joining share.
pub(crate) struct Job<'a> {
    pub(crate) handle: Handle,
    pub(crate) workload: Workload,
    pub(crate) data: Data,
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

    /// Holds the result against what the tables hold.
    pub(crate) fn check_result(&self, rows: u64, sum: Sum) -> Result<(), WorkloadError> {
        if rows != self.workload.rows {
            let what = format!("it has {rows} rows and not {}", self.workload.rows);
            return Err(WorkloadError::Wrong { what });
        }
        if sum != self.data.expected(&self.workload) {
            let what = "it has as many rows as there must be, but others".to_owned();
            return Err(WorkloadError::Wrong { what });
        }
        Ok(())
    }
}

/// What came of an operator.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Done {
    /// From the beginning until no more temporary data were written but by merging.
    pub(crate) first: Nanos,
    /// Until the result was written.
    pub(crate) second: Nanos,
    pub(crate) result_rows: u64,
    pub(crate) cluster_bytes: usize,
    pub(crate) memory_used_bytes: usize,
    pub(crate) sort: Option<SortFigures>,
    pub(crate) join: Option<JoinFigures>,
}

/// Sorts or joins, and checks the result. `is_cancelled` is asked now and then.
///
/// Nothing is flushed: times end when the last write has completed.
///
/// # Errors
/// The workload makes no sense, memory or temporary space don't do, a device failed, or the result is wrong.
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
    let (recorder, record) = Recorder::around(world);
    let runtime = Runtime::new(Box::new(recorder));
    let job = Job {
        handle: runtime.handle(),
        workload: *workload,
        data: Data::of(workload),
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

/// On a real device the time tells a run from those before it that used the same place; a modelled one is new in each world, so that
/// its clock is where it always is.
fn salt(world: &World, workload: &Workload) -> u64 {
    world.io.now().0.rotate_left(32) ^ workload.seed
}

fn outcome(workload: &Workload, done: Done, record: &Record) -> Outcome {
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

/// Writes the tables to where a run reads them from: before a run with [`InputContents::OnDevice`].
///
/// # Errors
/// As for [`run`].
pub fn fill(world: World, workload: &Workload) -> Result<(), WorkloadError> {
    workload.check()?;
    let (input, data) = (world.input, Data::of(workload));
    let runtime = Runtime::new(world.io);
    let handle = runtime.handle();
    runtime.block_on(async {
        for number in 0..workload.operator.tables() {
            Table::new(&handle, input, InputContents::OnDevice, &data, number)?.write().await?;
        }
        Ok(())
    })
}
