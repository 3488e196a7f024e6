use nandle_io::Nanos;
use nandle_probe::experiments::{self, Circumstances, Plan, PlanError, Selection};
use nandle_profile::{DeviceProfile, SkippedExperiment, SystemFacts};
use nandle_target::{TargetKind, facts};

use super::reads::SLOTS;
use super::{ProbeError, ProbeOptions, WritesAllowed};
use crate::{Session, SessionError};

/// So much of the free space, or of a raw device, may be written when the user says nothing.
const WRITE_LIMIT_PART: u64 = 8;

/// What a probe will do within its budget.
pub struct ProbePlan {
    /// The read side and the experiments.
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

    /// Time for the read side; `None` when it isn't wanted, or is there already.
    pub fn reads_time(&self) -> Option<Nanos> {
        self.experiments.reads_time
    }

    /// Whether the user asked for an experiment by its name, or at least didn't rule it out.
    pub fn wants(&self, name: &str) -> bool {
        self.selection.wants(name)
    }

    /// Whether any experiment is conducted.
    pub fn has_experiments(&self) -> bool {
        !self.experiments.chosen.is_empty()
    }

    /// Bytes that will be written at most, beside the test file.
    pub fn write_bytes_max(&self) -> u64 {
        self.experiments.write_bytes_max()
    }

    /// Bytes that all experiments together may write; `None` where that is no limit.
    pub fn write_limit_bytes(&self) -> Option<u64> {
        Some(self.selection.write_limit_bytes).filter(|limit| *limit < u64::MAX)
    }

    /// Those of them to ask for: what is essential writes little, and to a test file of Nandle's own, which has just been filled.
    pub fn write_bytes_to_ask_for(&self) -> u64 {
        if self.writes_to_test_file {
            self.experiments.unessential_write_bytes_max()
        } else {
            self.write_bytes_max()
        }
    }

    /// Time that all of it takes at most.
    pub fn time(&self) -> Nanos {
        self.experiments.time() + self.reads_time().unwrap_or(Nanos::ZERO)
    }

    /// Refuses a probe of which nothing is left, and says why.
    pub(super) fn check(&self, options: &ProbeOptions) -> Result<(), ProbeError> {
        let is_named = |skipped: &&SkippedExperiment| options.only.contains(&skipped.name);
        let skipped: Vec<_> = self.experiments.skipped.iter().filter(is_named).cloned().collect();
        let is_left = self.reads_time().is_some() || self.has_experiments();
        if is_left || options.resume.is_some() || skipped.is_empty() {
            return Ok(());
        }
        Err(ProbeError::NothingPlanned { skipped })
    }

    /// The experiments anew, once the profile is begun: the read side may have taken less than its part, and the test file may
    /// be smaller than wanted.
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
            // What was planned is tried also when what came before it took too long, and no other takes its place.
            let only = self.names().map(String::from).collect();
            let enough = left.max(self.experiments.time_least());
            again = plan(&Selection { only, budget: enough, ..selection })?.with_time(left);
        }
        self.keep_reasons(&mut again);
        Ok((again, circumstances))
    }

    /// The names of the experiments that were planned.
    fn names(&self) -> impl Iterator<Item = &'static str> {
        self.experiments.chosen.iter().map(|chosen| chosen.experiment.name())
    }

    /// What was not planned at first isn't conducted for the reason that was told then.
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

/// A small part of what is free. A modelled drive doesn't wear.
fn write_limit(session: &Session, system: &SystemFacts) -> u64 {
    if session.target.is_modelled() {
        return u64::MAX;
    }
    let free = system.file_system.as_ref().and_then(|system| system.available_bytes);
    let room = free.unwrap_or(session.target.area_bytes());
    room / WRITE_LIMIT_PART
}
