//! Probe: opens a target, plans within a budget, measures, and assembles the profile.

mod assemble;
mod conduct;
mod disk_watch;
mod error;
mod options;
mod plan;
mod processor;
mod reads;
mod resume;

use nandle_probe::load::LoadError;
use nandle_profile::{DeviceProfile, SystemFacts};
use nandle_target::{Intent, Problem, TargetError, TargetKind, TargetSpec, facts};

pub use self::error::ProbeError;
pub use self::options::{BUDGET_MIN, ProbeOptions};
pub use self::plan::ProbePlan;
pub use self::resume::ResumeError;

use self::disk_watch::DiskWatch;
use self::reads::ReadsResult;
use crate::{KeepError, Progress, Session};

/// Profiles a target with [`Probe::open`] and [`Probe::run`].
///
/// # Errors
/// See both.
pub fn probe(
    target: &TargetSpec,
    options: &ProbeOptions,
    progress: &mut dyn Progress,
) -> Result<DeviceProfile, ProbeError> {
    Probe::open(target, options)?.run(progress, &mut |_| Ok(()))
}

/// Probe with an open target and a plan.
pub struct Probe {
    session: Session,
    options: ProbeOptions,
    system: SystemFacts,
    plan: ProbePlan,
}

impl Probe {
    /// Opens the target and plans, without measuring.
    ///
    /// The target is opened for writing if all experiments may write and the target permits it, and
    /// otherwise for reading.
    ///
    /// # Errors
    /// The options leave nothing to measure, the target can't be opened, or the profile to resume
    /// belongs to another target.
    pub fn open(target: &TargetSpec, options: &ProbeOptions) -> Result<Self, ProbeError> {
        options.check()?;
        let (session, writes) = open(target, options)?;
        if let Some(previous) = &options.resume {
            resume::check(previous, &session, options.seed)?;
        }
        let system = facts::system_facts(&session.target);
        let plan = ProbePlan::new(options, &session, &system, writes)?;
        Ok(Self { session, options: options.clone(), system, plan })
    }

    /// The open session.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Plan of the measurement.
    pub fn plan(&self) -> &ProbePlan {
        &self.plan
    }

    /// Measures according to the plan. After each experiment, `keep` receives the profile so far. A
    /// failure of `keep` doesn't end the probe; it is reported at the end if the last call failed
    /// as well.
    ///
    /// # Errors
    /// Nothing was planned or could be measured. If the probe is cancelled, ended by the device, or
    /// has failed requests, the error contains [the profile](ProbeError::profile) so far.
    pub fn run(
        &self,
        progress: &mut dyn Progress,
        keep: &mut dyn FnMut(&DeviceProfile) -> Result<(), KeepError>,
    ) -> Result<DeviceProfile, ProbeError> {
        self.plan.check(&self.options)?;
        let others = DiskWatch::new(&self.session);
        let ReadsResult { mut profile, ended_by, failed } = self.reads(&others, progress)?;
        let (cause, not_kept) = if ended_by.is_some() {
            (ended_by, None)
        } else {
            let (ended_by, not_kept) = self.conduct(&mut profile, progress, keep)?;
            (ended_by.or(failed), not_kept)
        };
        profile.conditions.others_meanwhile = others.meanwhile();
        let cause = if self.options.cancel.is_cancelled() { Some(LoadError::Cancelled) } else { cause };
        if let Some(source) = not_kept {
            return Err(ProbeError::NotKept { source, profile: Box::new(profile) });
        }
        match cause {
            None => Ok(profile),
            Some(cause) => {
                Err(ProbeError::Ended { target: self.target(), cause, profile: Box::new(profile) })
            }
        }
    }

    /// Target as named by the user.
    fn target(&self) -> String {
        self.session.target.spec().to_string()
    }
}

/// Opens the target with the permitted intent. Also returns the permitted writes.
fn open(target: &TargetSpec, options: &ProbeOptions) -> Result<(Session, WritesAllowed), TargetError> {
    let open = |intent| options.access.open(target, intent, &options.cancel);
    let nothing = |reason| WritesAllowed { nothing: Some(reason), essential_only: None };
    if let Some(reason) = options.read_only.clone() {
        return Ok((open(Intent::Read)?, nothing(reason)));
    }
    if let Some(reason) = options.short_budget() {
        let session = open(Intent::Read)?;
        // Targets named by the user are only read.
        let is_own = matches!(session.target.kind(), TargetKind::TestFile | TargetKind::Model);
        let essential = WritesAllowed { nothing: None, essential_only: Some(reason.clone()) };
        return Ok((session, if is_own { essential } else { nothing(reason) }));
    }
    match open(Intent::Write) {
        Ok(session) => Ok((session, WritesAllowed::default())),
        Err(TargetError {
            problem: problem @ (Problem::ForeignFile | Problem::DestroysData | Problem::InUse { .. }),
            ..
        }) => Ok((open(Intent::Read)?, nothing(problem.to_string()))),
        Err(error) => Err(error),
    }
}

/// Experiments that may write.
#[derive(Default)]
struct WritesAllowed {
    /// Reason why none may write.
    nothing: Option<String>,
    /// Reason why only essential ones may write.
    essential_only: Option<String>,
}
