use nandle_io::Nanos;
use nandle_probe::experiments::{self, Circumstances, Plan, PlanError, Selection, reads_time};
use nandle_profile::{DeviceProfile, SkippedExperiment, SystemFacts};
use nandle_target::TargetKind;

use super::reads::SLOTS;
use super::{ProbeError, ProbeOptions};
use crate::{Session, SessionError};

/// So much of the free space, or of a raw device, may be written when the user says nothing.
const WRITE_LIMIT_PART: u64 = 8;

/// What a probe will do within its budget.
pub struct ProbePlan {
    /// Time for the read side; `None` when it isn't wanted, or is there already.
    pub reads_time: Option<Nanos>,
    /// The experiments.
    pub experiments: Plan,
    pub(super) selection: Selection,
    pub(super) circumstances: Circumstances,
}

impl ProbePlan {
    pub(super) fn new(
        options: &ProbeOptions,
        session: &Session,
        system: &SystemFacts,
        no_writes: Option<String>,
    ) -> Result<Self, ProbeError> {
        let circumstances = circumstances(session, system)?;
        let previous = options.resume.as_ref();
        let selection = options.selection();
        let reads_done = previous.is_some_and(|previous| previous.conditions.reads_complete);
        let reads_part = reads_time(&selection).filter(|_| !reads_done);
        let selection = Selection {
            budget: options.budget - reads_part.unwrap_or(Nanos::ZERO),
            write_limit_bytes: options.write_limit_bytes.unwrap_or_else(|| write_limit(session, system)),
            read_only: no_writes,
            ..selection
        };
        let mut done = previous.map(|previous| previous.experiments.clone()).unwrap_or_default();
        let experiments = experiments::plan(&circumstances, &selection, &mut done)?;
        // With nothing beside it the read side has the whole budget.
        let is_alone = experiments.chosen.is_empty();
        let reads_time = reads_part.map(|part| if is_alone { options.budget } else { part });
        Ok(Self { reads_time, experiments, selection, circumstances })
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

    /// Time that all of it takes at most.
    pub fn time(&self) -> Nanos {
        self.experiments.time() + self.reads_time.unwrap_or(Nanos::ZERO)
    }

    /// Refuses a probe of which nothing is left, and says why.
    pub(super) fn check(&self, options: &ProbeOptions) -> Result<(), ProbeError> {
        let is_named = |skipped: &&SkippedExperiment| options.only.contains(&skipped.name);
        let skipped: Vec<_> = self.experiments.skipped.iter().filter(is_named).cloned().collect();
        let is_left = self.reads_time.is_some() || self.has_experiments();
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
            if self.reads_time.is_some() { Nanos(profile.conditions.elapsed_ns) } else { Nanos::ZERO };
        let selection = Selection {
            budget: budget - spent,
            write_limit_bytes: self.selection.write_limit_bytes.min(self.write_bytes_max()),
            ..self.selection.clone()
        };
        let area_bytes = profile.conditions.file_bytes;
        let circumstances = Circumstances { area_bytes, ..self.circumstances.clone() };
        let plan = experiments::plan(&circumstances, &selection, &mut profile.experiments)?;
        Ok((plan, circumstances))
    }
}

fn circumstances(session: &Session, system: &SystemFacts) -> Result<Circumstances, SessionError> {
    let (_, device) = session.open_io(1)?;
    let kind = session.target.kind();
    Ok(Circumstances {
        shape: device.shape,
        area_bytes: session.target.area_bytes(),
        slots: SLOTS,
        is_modelled: session.target.is_modelled(),
        is_whole_device: matches!(kind, TargetKind::Model | TargetKind::BlockDevice),
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
