//! Sweep: opens a target, plans all combinations of parameters, and measures the cells one by one.

mod error;
mod estimate;

use nandle_io::Shape;
use nandle_probe::load::{Arrivals, Contents, LoadError, Refill};
use nandle_probe::sweep::{self, CellSpec, OpenLoopRate, SweepContext, SweepOptions, SweepPlan};
use nandle_profile::{Cell, SWEEP_SCHEMA_VERSION, SweepFile};
use nandle_target::{Intent, TargetSpec};
use nandle_units::{format_bytes_exact, format_duration};

pub use self::error::{SweepEnd, SweepError};
pub use self::estimate::Estimate;

use crate::{Access, Cancel, KeepError, PreparedArea, Progress, Session};

/// Measures every cell of a parameter space with [`Sweep::open`] and [`Sweep::run`].
///
/// # Errors
/// See both.
pub fn sweep(
    target: &TargetSpec,
    access: &Access,
    options: SweepOptions,
    cancel: &Cancel,
    progress: &mut dyn Progress,
) -> Result<SweepFile, SweepError> {
    Sweep::open(target, access, options, cancel)?.run(progress, &mut |_| Ok(()))
}

/// Sweep with an open target and planned cells.
pub struct Sweep {
    session: Session,
    options: SweepOptions,
    shape: Shape,
    plan: SweepPlan,
    file: SweepFile,
}

impl Sweep {
    /// Opens the target and plans, without measuring. The target is opened for writing if a cell
    /// writes.
    ///
    /// # Errors
    /// The target can't be opened, or the parameter space is invalid on it.
    pub fn open(
        target: &TargetSpec,
        access: &Access,
        options: SweepOptions,
        cancel: &Cancel,
    ) -> Result<Self, SweepError> {
        let intent = if options.reads_only() { Intent::Read } else { Intent::Write };
        let session = access.open(target, intent, cancel)?;
        let options = SweepOptions {
            outstanding_bytes_max: session.outstanding.bytes,
            read_pool_bytes: options.read_pool_bytes.min(session.read_pool.bytes),
            ..options
        };
        if session.target.is_modelled() && options.threads > 1 {
            let (target, threads) = (session.target.spec().to_string(), options.threads);
            return Err(SweepError::ModelThreads { target, threads });
        }
        let (_, device) = session.open_io(1)?;
        let plan = sweep::plan(&options, &device.shape, session.area_bytes())
            .map_err(|cause| SweepError::Plan { target: session.target.spec().to_string(), cause })?;
        let file = begin(&session, &options, &plan)?;
        Ok(Self { session, options, shape: device.shape, plan, file })
    }

    /// The open session.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Planned cells.
    pub fn plan(&self) -> &SweepPlan {
        &self.plan
    }

    /// Results so far. Before [`Self::run`] they contain the load and resumed cells.
    pub fn file(&self) -> &SweepFile {
        &self.file
    }

    /// Resumes an earlier sweep of the same target and load. Its cells aren't measured again.
    pub fn resume(&mut self, measured: Vec<Cell>) {
        self.plan.cells.retain(|spec| !measured.iter().any(|cell| spec.is(cell)));
        self.file.cells = measured;
    }

    /// Estimates writes and duration.
    pub fn estimate(&self) -> Estimate {
        Estimate::of(&self.plan, &self.options, &self.session)
    }

    /// Fills the target if necessary and measures the cells, unless there are none left. After each
    /// cell, `keep` receives the results so far.
    ///
    /// # Errors
    /// The target could not be prepared. If the sweep is cancelled, ended by the device, or has
    /// failed cells or requests, the error contains [the results](SweepError::file) so far.
    pub fn run(
        mut self,
        progress: &mut dyn Progress,
        keep: &mut dyn FnMut(&SweepFile) -> Result<(), KeepError>,
    ) -> Result<SweepFile, SweepError> {
        let end = if self.plan.cells.is_empty() {
            self.file.complete = true;
            None
        } else {
            let prepared = self.session.prepare_apart(None, progress)?;
            self.run_all(&prepared, progress, keep).err()
        };
        match end.or_else(|| SweepEnd::of(&self.file)) {
            None => Ok(self.file),
            Some(end) => {
                Err(SweepError::Ended { target: self.file.target.clone(), end, file: Box::new(self.file) })
            }
        }
    }

    fn run_all(
        &mut self,
        prepared: &PreparedArea,
        progress: &mut dyn Progress,
        keep: &mut dyn FnMut(&SweepFile) -> Result<(), KeepError>,
    ) -> Result<(), SweepEnd> {
        let planned = std::mem::take(&mut self.plan.cells);
        let cells = self.file.cells.len() + planned.len();
        let mut failed = 0_u32;
        for (number, spec) in planned.iter().enumerate() {
            progress.progress(&spec.to_string(), number as f64 / planned.len() as f64);
            match self.run_cell(spec, prepared, progress) {
                Ok(cell) => {
                    report_errors(spec, &cell, progress);
                    self.file.cells.push(cell);
                }
                Err(LoadError::Cancelled) => {
                    return Err(SweepEnd::Interrupted { measured: self.file.cells.len(), cells });
                }
                // The device works; only this cell exceeds the system's limits.
                Err(
                    error @ (LoadError::TooDeep { .. } | LoadError::Block { .. } | LoadError::Memory { .. }),
                ) => {
                    self.file.skipped.push(spec.skipped(error.to_string()));
                }
                Err(error @ LoadError::AllFailed { .. }) => {
                    progress.remark(&format!("{spec}: {error}"));
                    failed += 1;
                    self.file.skipped.push(spec.skipped(error.to_string()));
                }
                Err(cause) => return Err(SweepEnd::Cell { spec: spec.to_string(), cause }),
            }
            keep(&self.file).map_err(SweepEnd::NotKept)?;
        }
        self.file.complete = true;
        if failed > 0 { Err(SweepEnd::CellsFailed { failed, cells }) } else { Ok(()) }
    }

    fn run_cell(
        &self,
        spec: &CellSpec,
        prepared: &PreparedArea,
        progress: &dyn Progress,
    ) -> Result<Cell, LoadError> {
        let stalled = |error: &LoadError| progress.remark(&format!("{spec}: {error}"));
        let open = |slots: u32| self.session.open_io(slots).map_err(|error| error.to_string());
        let context = SweepContext {
            open: &open,
            shape: &self.shape,
            area_bytes: prepared.area_bytes,
            patience: self.session.patience,
            contents: self.contents(prepared),
            cancel: &self.session.cancel,
            stalled: &stalled,
        };
        sweep::run_cell(&context, &self.options, spec)
    }

    /// Contents of a test file are only known if nothing else is written to it.
    fn contents(&self, prepared: &PreparedArea) -> Option<Contents> {
        prepared.contents.filter(|_| self.options.reads_only())
    }
}

/// Creates the results without cells.
fn begin(session: &Session, options: &SweepOptions, plan: &SweepPlan) -> Result<SweepFile, SweepError> {
    let deepest = plan.cells.iter().map(|spec| spec.queue_depth).max().unwrap_or(1);
    let most_bytes = plan.cells.iter().map(CellSpec::outstanding_bytes).max().unwrap_or(0);
    Ok(SweepFile {
        schema_version: SWEEP_SCHEMA_VERSION,
        target: session.name(),
        backend: session.backend(deepest, most_bytes, options.has_read_pool())?,
        file_bytes: session.area_bytes(),
        load: load(options, session.target.is_modelled()),
        seed: options.seed,
        complete: false,
        cells: Vec::new(),
        skipped: plan.skipped.clone(),
    })
}

/// Describes the load of each cell.
fn load(options: &SweepOptions, is_modelled: bool) -> String {
    let how = match (options.rate, options.refill) {
        (Some(OpenLoopRate { per_s, arrivals: Arrivals::Poisson }), _) => {
            format!("{per_s} a second, Poisson")
        }
        (Some(OpenLoopRate { per_s, arrivals: Arrivals::Fixed }), _) => format!("{per_s} a second, fixed"),
        (None, Refill::Exact) => "exact".into(),
        (None, Refill::Batched) => "batched".into(),
    };
    let threads =
        if options.threads == 1 { "1 thread".into() } else { format!("{} threads", options.threads) };
    let time = options.stop.time.map(format_duration);
    let bytes = options.stop.bytes.map(format_bytes_exact);
    let ends: Vec<String> = time.into_iter().chain(bytes).collect();
    let memory = if is_modelled || !options.operations.iter().any(|operation| operation.reads()) {
        String::new()
    } else if options.has_read_pool() {
        format!(", reads through {}", format_bytes_exact(options.read_pool_bytes))
    } else {
        ", reads into as many buffers as requests".into()
    };
    format!("{threads}, {how}, {} a run{memory}", ends.join(" or "))
}

fn report_errors(spec: &CellSpec, cell: &Cell, progress: &dyn Progress) {
    if let Some(unsent) = cell.unsent.filter(|unsent| *unsent > 0) {
        progress.remark(&format!(
            "{spec}: the device did not keep up: {unsent} requests were due and never sent"
        ));
    }
    if let Some(first) = &cell.first_error {
        progress.remark(&format!("{spec}: {} requests failed, the first with: {first}", cell.errors));
    }
}
