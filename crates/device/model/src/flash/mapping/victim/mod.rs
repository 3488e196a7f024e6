//! Which superblock is cleaned next. A choice looks at every superblock; it happens once per superblock written,
//! so its cost per write is nothing to speak of.

mod cost_benefit;
mod d_choices;
mod greedy;

use super::super::parameters::VictimPolicy;
use super::superblocks::{Candidate, Superblocks};

/// The next victim; `None` when no superblock is closed. How its cells are used makes no difference: it becomes a free
/// superblock for what moving its valid units takes.
pub(crate) fn choose(policy: VictimPolicy, superblocks: &Superblocks, draws: &mut u64) -> Option<Candidate> {
    match policy {
        VictimPolicy::Greedy => greedy::choose(superblocks.candidates()),
        VictimPolicy::CostBenefit => cost_benefit::choose(superblocks),
        VictimPolicy::DChoices { choices, seed } => d_choices::choose(superblocks, choices, seed, draws),
    }
}
