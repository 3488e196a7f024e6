//! The read side of a probe: fills the target, searches, and begins the profile.

use std::time::SystemTime;

use nandle_io::Nanos;
use nandle_probe::load::{Lane, LoadError};
use nandle_probe::search::{self, Findings, Grid, ProbeOptions};
use nandle_profile::{DeviceProfile, SystemFacts};
use nandle_target::pressure::{PressureSample, PressureShares};

use super::assemble::{self, Measured};
use super::experiments::Selection;
use super::explain;
use crate::args::ProbeArgs;
use crate::error::CliError;
use crate::progress::Progress;
use crate::session::Session;

/// Room for the deepest queue of the grid.
pub(super) const SLOTS: u32 = 256;
/// The test file may take this part of the budget.
const FILL_PART: u64 = 4;

/// A profile with the read side in it.
pub(super) struct Begun {
    pub(super) profile: DeviceProfile,
    /// What ended the reading early.
    pub(super) ended_by: Option<LoadError>,
    /// Reads failed while others were answered.
    pub(super) failed: Option<LoadError>,
}

/// The profile with the read side in it: measured now, or before the probe was interrupted.
pub(super) fn profile(
    args: &ProbeArgs,
    session: &Session,
    system: SystemFacts,
    made_at: SystemTime,
    previous: Option<DeviceProfile>,
    selection: &Selection,
    progress: &mut Progress,
) -> Result<Begun, CliError> {
    if let Some(previous) = previous.as_ref().filter(|_| selection.reads_budget.is_none()) {
        session.prepare_apart(Some(Nanos(args.budget.0 / FILL_PART)), progress)?;
        return Ok(Begun { profile: previous.clone(), ended_by: None, failed: None });
    }
    let measured = measure(args, session, &system, selection.reads_budget, progress)?;
    let (ended_by, failed) = (measured.findings.ended_by.clone(), measured.findings.failed.clone());
    let mut profile = assemble::profile(args, session, system, made_at, measured);
    profile.experiments = previous.map(|previous| previous.experiments).unwrap_or_default();
    Ok(Begun { profile, ended_by, failed })
}

fn measure(
    args: &ProbeArgs,
    session: &Session,
    system: &SystemFacts,
    budget: Option<Nanos>,
    progress: &mut Progress,
) -> Result<Measured, CliError> {
    let opened = session.target.io(SLOTS)?;
    let shape = opened.device.shape.clone();
    let outstanding_max = session.outstanding.bytes;
    let grid = Grid::new(&shape, session.target.area_bytes(), SLOTS as usize, outstanding_max);
    let mut lane = Lane::new(opened.io, opened.device, session.lane_options(grid.buffer_bytes()))?;
    let began = lane.io().now();
    let before = PressureSample::take();
    let prepared = session.prepare(&mut lane, Some(Nanos(args.budget.0 / FILL_PART)), progress)?;
    let filling = lane.io().now().since(began);
    let findings = match budget {
        None => not_asked_for(),
        Some(budget) => {
            let options = ProbeOptions {
                // Alone, the search makes do with what the test file has left it.
                budget: budget.min(args.budget - filling),
                area_bytes: prepared.area_bytes,
                contents: prepared.contents,
                freshly_written: prepared.filled.is_some(),
                outstanding_bytes_max: outstanding_max,
                stated_split_bytes: system.queue.as_ref().and_then(|queue| queue.split_bytes),
                seed: args.target.seed,
            };
            search::probe(&mut lane, &options, progress, &session.cancel).map_err(explain(session))?
        }
    };
    let elapsed = lane.io().now().since(began);
    // What the machine did meanwhile has no part in virtual time.
    let pressure = if session.target.is_modelled() {
        PressureShares::default()
    } else {
        PressureSample::take().since(&before, elapsed)
    };
    let device = lane.device().clone();
    let backend = nandle_target::backend(lane.io(), &device);
    Ok(Measured { backend, prepared, findings, elapsed, pressure, reads_wanted: budget.is_some() })
}

fn not_asked_for() -> Findings {
    Findings { partial: vec!["reads were not asked for".into()], ..Findings::default() }
}
