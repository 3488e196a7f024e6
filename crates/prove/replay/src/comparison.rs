use nandle_pages::PolicyKind;

use crate::{Candidate, PolicyOutcome, ReplayError};

/// Is told how far it is, and may end it.
pub trait Watcher {
    /// Share of the whole that is done, and whose turn it is.
    fn progress(&mut self, policy: PolicyKind, share: f64);

    /// Whether to end.
    fn is_cancelled(&self) -> bool;
}

/// How candidates take turns.
#[derive(Debug, Clone, Copy)]
pub struct Comparison {
    /// Steps of the work that one does before it is the next one's turn.
    pub stretch_steps: usize,
    /// Reads every written page back at the end.
    pub verify: bool,
}

/// A policy whose store failed during the work.
#[derive(Debug)]
pub struct Failure {
    /// Which one.
    pub policy: PolicyKind,
    /// How.
    pub error: ReplayError,
}

/// What came of a comparison.
#[derive(Debug, Default)]
pub struct Outcomes {
    /// What each policy took that did all of the work, in the order of the candidates.
    pub policies: Vec<PolicyOutcome>,
    /// The others.
    pub failed: Vec<Failure>,
}

/// Lets the candidates do the work in turns, and says what each took. One that fails is out; the others go on. In virtual time
/// nothing disturbs a run, and one after the other takes less memory.
///
/// # Errors
/// The watcher ended it.
pub fn replay(
    candidates: Vec<Candidate>,
    comparison: Comparison,
    watcher: &mut dyn Watcher,
) -> Result<Outcomes, ReplayError> {
    let mut field = Field { candidates, failed: Vec::new() };
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

/// The candidates that are still under way, and those that aren't.
struct Field {
    candidates: Vec<Candidate>,
    failed: Vec<Failure>,
}

impl Field {
    /// Share of the work that is done.
    fn share(&self) -> f64 {
        let shares: f64 = self.candidates.iter().map(Candidate::share).sum();
        shares / self.candidates.len().max(1) as f64
    }

    /// Lets each do something, and takes out those that fail.
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

/// Adds the speed-ups over `direct`, where it ran.
pub fn beside_direct(outcomes: Vec<PolicyOutcome>) -> Vec<PolicyOutcome> {
    let direct = outcomes.iter().find(|outcome| outcome.policy == PolicyKind::Direct);
    let direct_ns = direct.map(|outcome| outcome.elapsed_ns);
    outcomes.into_iter().map(|outcome| outcome.beside(direct_ns)).collect()
}
