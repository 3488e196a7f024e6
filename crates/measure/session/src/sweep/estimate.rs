use nandle_io::Nanos;
use nandle_probe::sweep::{CellSpec, SweepOptions, SweepPlan};
use nandle_profile::OperationKind;

use crate::{Session, SessionError};

/// Limits of the trial that estimates the time to write a test file.
const TRIAL_BYTES: u64 = 256 << 20;
const TRIAL_TIME: Nanos = Nanos::from_secs(1);

/// Estimate of a sweep's writes and duration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Estimate {
    /// Bytes of the test file; 0 if none is written.
    pub fill_bytes: u64,
    /// Bytes written by the cells, for a mix the expected share; `None` if they depend on the
    /// device's speed.
    pub cells_bytes: Option<u64>,
    /// Longest time of the cells; `None` if they end by bytes.
    pub cells_time_max: Option<Nanos>,
}

impl Estimate {
    pub(super) fn of(plan: &SweepPlan, options: &SweepOptions, session: &Session) -> Self {
        let cells = plan.cells.len() as u64;
        let fill_bytes = if session.target.needs_fill() { session.area_bytes() } else { 0 };
        let written = plan.cells.iter().map(|spec| written_bytes(spec, options));
        let cells_bytes = written.into_iter().try_fold(0_u64, |sum, bytes| Some(sum.saturating_add(bytes?)));
        let cells_time_max = options.stop.time.map(|time| Nanos(time.0.saturating_mul(cells)));
        Self { fill_bytes, cells_bytes, cells_time_max }
    }

    /// Estimates the time to fill the target, by a trial at the start of a temporary test file.
    /// Returns `None` for a target that must not be written for an estimate.
    ///
    /// # Errors
    /// The trial failed or was cancelled.
    pub fn fill_time(&self, session: &Session) -> Result<Option<Nanos>, SessionError> {
        session.fill_time(self.fill_bytes, TRIAL_BYTES, TRIAL_TIME)
    }
}

fn written_bytes(spec: &CellSpec, options: &SweepOptions) -> Option<u64> {
    let moved_bytes = options.stop.bytes.map(|bytes| moved_bytes(spec, bytes));
    match spec.operation {
        OperationKind::Read => Some(0),
        OperationKind::Write => moved_bytes,
        OperationKind::Mixed { read_percent } => {
            moved_bytes.map(|bytes| share(bytes, 100 - read_percent.min(100)))
        }
    }
}

/// Bytes moved by a cell. It ends with the block that reaches `bytes`.
fn moved_bytes(spec: &CellSpec, bytes: u64) -> u64 {
    bytes.div_ceil(spec.block_bytes).saturating_mul(spec.block_bytes)
}

fn share(bytes: u64, percent: u8) -> u64 {
    u64::try_from(u128::from(bytes) * u128::from(percent) / 100).unwrap_or(u64::MAX)
}
