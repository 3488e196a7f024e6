//! Which superblock is cleaned next. A choice looks at every superblock; it happens once per superblock written,
//! so its cost per write is nothing to speak of.

mod cost_benefit;
mod d_choices;
mod greedy;

use super::super::parameters::VictimPolicy;
use super::superblocks::{Candidate, Pool, Superblocks};

/// The next victim of the main pool; `None` when no superblock is closed.
pub(crate) fn choose(policy: VictimPolicy, superblocks: &Superblocks, draws: &mut u64) -> Option<Candidate> {
    match policy {
        VictimPolicy::Greedy => greedy::choose(superblocks.candidates(Pool::Main)),
        VictimPolicy::CostBenefit => cost_benefit::choose(superblocks),
        VictimPolicy::DChoices { choices, seed } => d_choices::choose(superblocks, choices, seed, draws),
    }
}
