use nandle_pages::PolicyKind;

use crate::{Contender, PolicyOutcome, ReplayError};

/// Who is told how far it is, and may end it.
pub trait Watcher {
    /// Share of the whole that is done, and whose turn it is.
    fn progress(&mut self, policy: PolicyKind, share: f64);

    /// Whether to end.
    fn is_cancelled(&self) -> bool;
}

/// How contenders take turns.
#[derive(Debug, Clone, Copy)]
pub struct Race {
    /// Steps of the work that one does before it is the next one's turn.
    pub stretch_steps: usize,
    /// Reads every written page back at the end.
    pub verify: bool,
}

/// Lets the contenders do the work in turns, and says what each took, in their order. In virtual time nothing disturbs
/// anybody, and one after the other takes less memory.
///
/// # Errors
/// A store failed, a page was lost, or the watcher ended it.
pub fn replay(
    mut contenders: Vec<Contender>,
    race: Race,
    watcher: &mut dyn Watcher,
) -> Result<Vec<PolicyOutcome>, ReplayError> {
    let mut under_way = true;
    while under_way {
        under_way = false;
        let shares: f64 = contenders.iter().map(Contender::share).sum();
        let share = shares / contenders.len().max(1) as f64;
        for contender in &mut contenders {
            watcher.progress(contender.policy(), share);
            if watcher.is_cancelled() {
                return Err(ReplayError::Cancelled);
            }
            under_way |= contender.run_stretch(race.stretch_steps)?;
        }
    }
    for contender in &mut contenders {
        watcher.progress(contender.policy(), 1.0);
        if watcher.is_cancelled() {
            return Err(ReplayError::Cancelled);
        }
        contender.checkpoint()?;
    }
    contenders.into_iter().map(|contender| contender.finish(race.verify, watcher)).collect()
}

/// Adds the speed-ups over `direct`, where it ran.
pub fn beside_direct(outcomes: Vec<PolicyOutcome>) -> Vec<PolicyOutcome> {
    let direct = outcomes.iter().find(|outcome| outcome.policy == PolicyKind::Direct.name());
    let direct_ns = direct.map(|outcome| outcome.elapsed_ns);
    outcomes.into_iter().map(|outcome| outcome.beside(direct_ns)).collect()
}
