use nandle_io::Nanos;
use nandle_probe::experiments::{self, Circumstances, Plan, PlanError, Selection};
use nandle_profile::{DeviceProfile, SkippedExperiment, SystemFacts};
use nandle_target::{TargetKind, facts};

use super::reads::SLOTS;
use super::{ProbeError, ProbeOptions, WritesAllowed};
use crate::{Session, SessionError};

/// Fraction (one in `WRITE_LIMIT_PART`) of the free space, or of a raw device, for the default
/// write limit.
const WRITE_LIMIT_PART: u64 = 8;

/// Plan of a probe within its budget.
pub struct ProbePlan {
    /// Reads and experiments.
    pub experiments: Plan,
    pub(super) selection: Selection,
    pub(super) circumstances: Circumstances,
    writes_to_test_file: bool,
}

impl ProbePlan {
    pub(super) fn new(
        options: &ProbeOptions,
        session: &Session,
        system: &SystemFacts,
        writes: WritesAllowed,
    ) -> Result<Self, ProbeError> {
        let circumstances = circumstances(session, system)?;
        let previous = options.resume.as_ref();
        let selection = options.selection();
        let reads_done = previous.is_some_and(|previous| previous.conditions.reads_complete);
        let selection = Selection {
            reads_done,
            write_limit_bytes: options.write_limit_bytes.unwrap_or_else(|| write_limit(session, system)),
            read_only: writes.nothing,
            essential_writes_only: writes.essential_only,
            ..selection
        };
        let mut done = previous.map(|previous| previous.experiments.clone()).unwrap_or_default();
        let experiments = experiments::plan(&circumstances, &selection, &mut done)?;
        let writes_to_test_file = session.target.kind() == TargetKind::TestFile;
        Ok(Self { experiments, selection, circumstances, writes_to_test_file })
    }

    /// Time for the reads; `None` if they aren't selected or are already done.
    pub fn reads_time(&self) -> Option<Nanos> {
        self.experiments.reads_time
    }

    /// Returns true if an experiment is selected and not skipped.
    pub fn wants(&self, name: &str) -> bool {
        self.selection.selects(name)
    }

    /// Returns true if any experiment will run.
    pub fn has_experiments(&self) -> bool {
        !self.experiments.chosen.is_empty()
    }

    /// Most bytes written, in addition to the test file.
    pub fn write_bytes_max(&self) -> u64 {
        self.experiments.write_bytes_max()
    }

    /// Write limit of all experiments together, if any.
    pub fn write_limit_bytes(&self) -> Option<u64> {
        Some(self.selection.write_limit_bytes).filter(|limit| *limit < u64::MAX)
    }

    /// Bytes that need the user's consent. Essential experiments are excluded, since they write
    /// little and only to Nandle's own test file.
    pub fn write_bytes_to_ask_for(&self) -> u64 {
        if self.writes_to_test_file {
            self.experiments.unessential_write_bytes_max()
        } else {
            self.write_bytes_max()
        }
    }

    /// Longest duration.
    pub fn time(&self) -> Nanos {
        self.experiments.time() + self.reads_time().unwrap_or(Nanos::ZERO)
    }

    /// Returns an error with the reasons if nothing is left to measure.
    pub(super) fn check(&self, options: &ProbeOptions) -> Result<(), ProbeError> {
        let is_named = |skipped: &&SkippedExperiment| options.only.contains(&skipped.name);
        let skipped: Vec<_> = self.experiments.skipped.iter().filter(is_named).cloned().collect();
        let is_left = self.reads_time().is_some() || self.has_experiments();
        if is_left || options.resume.is_some() || skipped.is_empty() {
            return Ok(());
        }
        Err(ProbeError::NothingPlanned { skipped })
    }

    /// Plans the experiments again after the reads, which may have taken less time than planned.
    /// The test file may also be smaller than requested.
    pub(super) fn again(
        &self,
        budget: Nanos,
        profile: &mut DeviceProfile,
    ) -> Result<(Plan, Circumstances), PlanError> {
        let spent =
            if self.reads_time().is_some() { Nanos(profile.conditions.elapsed_ns) } else { Nanos::ZERO };
        let left = budget - spent;
        let area_bytes = profile.conditions.file_bytes;
        let circumstances = Circumstances { area_bytes, ..self.circumstances.clone() };
        let mut plan =
            |selection: &Selection| experiments::plan(&circumstances, selection, &mut profile.experiments);
        let selection = Selection {
            budget: left,
            reads_done: true,
            write_limit_bytes: self.selection.write_limit_bytes.min(self.write_bytes_max()),
            ..self.selection.clone()
        };
        let mut again = plan(&selection)?;
        if self.names().any(|name| !again.chosen.iter().any(|chosen| chosen.experiment.name() == name)) {
            // Planned experiments run even if earlier ones took too long. Others don't replace
            // them.
            let only = self.names().map(String::from).collect();
            let enough = left.max(self.experiments.time_least());
            again = plan(&Selection { only, budget: enough, ..selection })?.with_time(left);
        }
        self.keep_reasons(&mut again);
        Ok((again, circumstances))
    }

    /// Names of the planned experiments.
    fn names(&self) -> impl Iterator<Item = &'static str> {
        self.experiments.chosen.iter().map(|chosen| chosen.experiment.name())
    }

    /// Keeps the first reason of each experiment that was skipped in the first plan.
    fn keep_reasons(&self, again: &mut Plan) {
        for skipped in &mut again.skipped {
            if let Some(first) = self.experiments.skipped.iter().find(|first| first.name == skipped.name) {
                skipped.reason.clone_from(&first.reason);
            }
        }
    }
}

fn circumstances(session: &Session, system: &SystemFacts) -> Result<Circumstances, SessionError> {
    let (_, device) = session.open_io(1)?;
    let kind = session.target.kind();
    Ok(Circumstances {
        shape: device.shape,
        area_bytes: session.area_bytes(),
        slots: SLOTS,
        is_modelled: session.target.is_modelled(),
        is_whole_device: matches!(kind, TargetKind::Model | TargetKind::BlockDevice),
        device_bytes: facts::identity(&session.target).capacity_bytes,
        atomic_write: system.atomic_write,
    })
}

/// Default write limit: a part of the free space. Modelled drives don't wear, so they have no
/// limit.
fn write_limit(session: &Session, system: &SystemFacts) -> u64 {
    if session.target.is_modelled() {
        return u64::MAX;
    }
    let free = system.file_system.as_ref().and_then(|system| system.available_bytes);
    let room = free.unwrap_or(session.target.area_bytes());
    room / WRITE_LIMIT_PART
}
