//! Reads of a probe: fills the target, searches, and starts the profile.

use nandle_io::Nanos;
use nandle_probe::load::{Lane, LoadError};
use nandle_probe::search::{self, Findings, Grid};
use nandle_profile::DeviceProfile;
use nandle_target::pressure::{PressureSample, PressureShares};

use super::assemble::{self, Measurements};
use super::disk_watch::DiskWatch;
use super::{BUDGET_MIN, Probe, ProbeError};
use crate::Progress;

/// Request slots for the deepest queue of the grid.
pub(super) const SLOTS: u32 = 256;
/// Fraction (one in `FILL_PART`) of the budget for writing the test file.
const FILL_PART: u64 = 4;

/// Profile with the results of the reads.
pub(super) struct ReadsResult {
    pub(super) profile: DeviceProfile,
    /// Early end of the reads, if any.
    pub(super) ended_by: Option<LoadError>,
    /// Failed reads while others succeeded, if any.
    pub(super) failed: Option<LoadError>,
}

impl Probe {
    /// Measures the reads, or takes them from the profile to resume.
    pub(super) fn reads(
        &self,
        others: &DiskWatch,
        progress: &mut dyn Progress,
    ) -> Result<ReadsResult, ProbeError> {
        let previous = self.options.resume.as_ref();
        if let (Some(previous), None) = (previous, self.plan.reads_time()) {
            self.session.prepare_apart(Some(self.fill_time_max()), progress)?;
            return Ok(ReadsResult { profile: previous.clone(), ended_by: None, failed: None });
        }
        let measured = self.measure(others, progress)?;
        let (ended_by, failed) = (measured.findings.ended_by.clone(), measured.findings.failed.clone());
        let mut profile = assemble::profile(&self.options, &self.session, self.system.clone(), measured);
        profile.experiments = previous.map(|previous| previous.experiments.clone()).unwrap_or_default();
        Ok(ReadsResult { profile, ended_by, failed })
    }

    fn fill_time_max(&self) -> Nanos {
        Nanos(self.options.budget.0 / FILL_PART)
    }

    fn measure(&self, others: &DiskWatch, progress: &mut dyn Progress) -> Result<Measurements, ProbeError> {
        let session = &self.session;
        let opened = session.target.io(SLOTS)?;
        let shape = opened.device.shape.clone();
        let outstanding_bytes_max = session.outstanding.bytes;
        let grid = Grid::new(&shape, session.area_bytes(), SLOTS as usize, outstanding_bytes_max);
        let mut lane = Lane::new(
            opened.io,
            opened.device,
            session.lane_options(grid.buffer_bytes(), session.read_pool.bytes),
        )?;
        let began = lane.io().now();
        let others_before = others.before(session, &mut lane, self.options.budget, progress);
        let before = PressureSample::take();
        let prepared = session.prepare(&mut lane, Some(self.fill_time_max()), progress)?;
        let filling = lane.io().now().since(began);
        let findings = match self.plan.reads_time() {
            None => not_asked_for(),
            Some(time) => {
                let options = search::ProbeOptions {
                    // The search gets the time left by the test file and the minimum times of
                    // experiments.
                    budget: time
                        .min(self.options.budget - filling - self.plan.experiments.time_least())
                        .max(BUDGET_MIN),
                    area_bytes: prepared.area_bytes,
                    contents: prepared.contents,
                    freshly_written: prepared.filled.is_some(),
                    outstanding_bytes_max,
                    stated_split_bytes: self.system.queue.as_ref().and_then(|queue| queue.split_bytes),
                    seed: self.options.seed,
                    without: self.options.without.clone(),
                };
                search::probe(&mut lane, &options, progress, &session.cancel)
                    .map_err(|cause| self.nothing_measured(cause))?
            }
        };
        let elapsed = lane.io().now().since(began);
        // The machine's load doesn't affect virtual time.
        let pressure = if session.target.is_modelled() {
            PressureShares::default()
        } else {
            PressureSample::take().since(&before, elapsed)
        };
        let device = lane.device().clone();
        let backend = nandle_target::backend(lane.io(), &device);
        let reads_wanted = self.plan.reads_time().is_some();
        Ok(Measurements { backend, prepared, findings, elapsed, pressure, others_before, reads_wanted })
    }

    fn nothing_measured(&self, cause: LoadError) -> ProbeError {
        match cause {
            LoadError::Cancelled => ProbeError::Interrupted,
            cause => ProbeError::NothingMeasured { target: self.target(), cause },
        }
    }
}

fn not_asked_for() -> Findings {
    Findings { partial: vec!["reads were not asked for".into()], ..Findings::default() }
}
