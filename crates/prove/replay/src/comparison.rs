use nandle_pages::PolicyKind;

use crate::{Candidate, PolicyOutcome, ReplayError};

/// Receives progress, and may cancel the replay.
pub trait Watcher {
    /// Reports the share of the whole that is done, and the current policy.
    fn progress(&mut self, policy: PolicyKind, share: f64);

    /// Returns true to cancel the replay.
    fn is_cancelled(&self) -> bool;
}

/// Schedule of a comparison.
#[derive(Debug, Clone, Copy)]
pub struct Comparison {
    /// Steps that a candidate performs before the next one's turn.
    pub stretch_steps: usize,
    /// True to read every written page back at the end.
    pub verify: bool,
}

/// A policy whose store failed during the work.
#[derive(Debug)]
pub struct Failure {
    /// Policy that failed.
    pub policy: PolicyKind,
    /// Cause of the failure.
    pub error: ReplayError,
}

/// Results of a comparison.
#[derive(Debug, Default)]
pub struct Outcomes {
    /// Figures of the policies that completed the work, in the order of the candidates.
    pub policies: Vec<PolicyOutcome>,
    /// Policies that failed.
    pub failed: Vec<Failure>,
}

/// Replays the work through the candidates in turns, and returns their figures. A candidate that
/// fails is dropped; the others continue. In virtual time candidates don't disturb each other, so
/// running them one after the other saves memory.
///
/// # Errors
///
/// The watcher cancelled the replay.
pub fn replay(
    candidates: Vec<Candidate>,
    comparison: Comparison,
    watcher: &mut dyn Watcher,
) -> Result<Outcomes, ReplayError> {
    let mut field = CandidatePool { candidates, failed: Vec::new() };
    field.each_in_turn(watcher, 0.0, Candidate::fill)?;
    let mut under_way = true;
    while under_way {
        under_way = false;
        let share = field.share();
        field.each_in_turn(watcher, share, |mut candidate| {
            under_way |= candidate.run_stretch(comparison.stretch_steps)?;
            Ok(candidate)
        })?;
    }
    field.each_in_turn(watcher, 1.0, |mut candidate| candidate.checkpoint().map(|()| candidate))?;
    let mut outcomes = Outcomes { policies: Vec::new(), failed: field.failed };
    for candidate in field.candidates {
        let policy = candidate.policy();
        match candidate.finish(comparison.verify, watcher) {
            Ok(outcome) => outcomes.policies.push(outcome),
            Err(ReplayError::Cancelled) => return Err(ReplayError::Cancelled),
            Err(error) => outcomes.failed.push(Failure { policy, error }),
        }
    }
    Ok(outcomes)
}

/// Active and failed candidates.
struct CandidatePool {
    candidates: Vec<Candidate>,
    failed: Vec<Failure>,
}

impl CandidatePool {
    /// Share of the work that is done.
    fn share(&self) -> f64 {
        let shares: f64 = self.candidates.iter().map(Candidate::share).sum();
        shares / self.candidates.len().max(1) as f64
    }

    /// Runs `act` on each candidate, and drops those that fail.
    fn each_in_turn(
        &mut self,
        watcher: &mut dyn Watcher,
        share: f64,
        mut act: impl FnMut(Candidate) -> Result<Candidate, ReplayError>,
    ) -> Result<(), ReplayError> {
        for candidate in std::mem::take(&mut self.candidates) {
            let policy = candidate.policy();
            watcher.progress(policy, share);
            if watcher.is_cancelled() {
                return Err(ReplayError::Cancelled);
            }
            match act(candidate) {
                Ok(candidate) => self.candidates.push(candidate),
                Err(ReplayError::Cancelled) => return Err(ReplayError::Cancelled),
                Err(error) => self.failed.push(Failure { policy, error }),
            }
        }
        Ok(())
    }
}

/// Adds the speed-up over `direct` to each outcome, if `direct` ran.
pub fn with_speedups(outcomes: Vec<PolicyOutcome>) -> Vec<PolicyOutcome> {
    let direct = outcomes.iter().find(|outcome| outcome.policy == PolicyKind::Direct);
    let direct_ns = direct.map(|outcome| outcome.elapsed_ns);
    outcomes.into_iter().map(|outcome| outcome.with_speedup(direct_ns)).collect()
}
