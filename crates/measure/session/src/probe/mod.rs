//! A probe: opens a target, plans what fits into a budget, measures it, and puts the profile together.

mod assemble;
mod conduct;
mod error;
mod options;
mod others;
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

use self::others::Others;
use self::reads::Begun;
use crate::{KeepError, Progress, Session};

/// Profiles a target: [`Probe::open`] and [`Probe::run`], without a word in between.
///
/// # Errors
/// As for both.
pub fn probe(
    target: &TargetSpec,
    options: &ProbeOptions,
    progress: &mut dyn Progress,
) -> Result<DeviceProfile, ProbeError> {
    Probe::open(target, options)?.run(progress, &mut |_| Ok(()))
}

/// A probe whose target is open and whose plan is made.
pub struct Probe {
    session: Session,
    options: ProbeOptions,
    system: SystemFacts,
    plan: ProbePlan,
}

impl Probe {
    /// Opens the target and plans; nothing is measured yet.
    ///
    /// It is opened for writing where all experiments may write and the target allows it, and otherwise for reading.
    ///
    /// # Errors
    /// The options leave nothing to be measured, the target can't be opened, or the profile to resume is not of it.
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

    /// The target.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// What will be measured.
    pub fn plan(&self) -> &ProbePlan {
        &self.plan
    }

    /// Measures what was planned. `keep` is called after each experiment with the profile as it is then; that it could not be
    /// kept ends nothing, and is told at the end if the last attempt failed, too.
    ///
    /// # Errors
    /// Nothing was planned, or nothing could be measured. A probe that was cancelled or ended by the device, or in which requests
    /// failed, is an error too, with [the profile](ProbeError::profile) of what was measured until then.
    pub fn run(
        &self,
        progress: &mut dyn Progress,
        keep: &mut dyn FnMut(&DeviceProfile) -> Result<(), KeepError>,
    ) -> Result<DeviceProfile, ProbeError> {
        self.plan.check(&self.options)?;
        let others = Others::new(&self.session);
        let Begun { mut profile, ended_by, failed } = self.reads(&others, progress)?;
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

    /// What the user named.
    fn target(&self) -> String {
        self.session.target.spec().to_string()
    }
}

/// Opens the target as far as it allows, with what may be written.
fn open(target: &TargetSpec, options: &ProbeOptions) -> Result<(Session, WritesAllowed), TargetError> {
    let open = |intent| options.access.open(target, intent, &options.cancel);
    let nothing = |reason| WritesAllowed { nothing: Some(reason), essential_only: None };
    if let Some(reason) = options.read_only.clone() {
        return Ok((open(Intent::Read)?, nothing(reason)));
    }
    if let Some(reason) = options.short_budget() {
        let session = open(Intent::Read)?;
        // What the user named is only read.
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

/// Which experiments may write.
#[derive(Default)]
struct WritesAllowed {
    /// Why none may.
    nothing: Option<String>,
    /// Why only essential ones may.
    essential_only: Option<String>,
}
