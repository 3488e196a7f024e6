//! Policies that choose the next superblock to clean. A choice looks at every superblock, once per
//! superblock written, so its cost per write is negligible.

mod cost_benefit;
mod d_choices;
mod greedy;

use super::super::parameters::VictimPolicy;
use super::superblocks::{Candidate, Superblocks};

/// Next victim; `None` if no superblock is closed. Bits per cell don't matter: any victim becomes a
/// free superblock at the cost of moving its valid units.
pub(crate) fn choose(policy: VictimPolicy, superblocks: &Superblocks, draws: &mut u64) -> Option<Candidate> {
    match policy {
        VictimPolicy::Greedy => greedy::choose(superblocks.candidates()),
        VictimPolicy::CostBenefit => cost_benefit::choose(superblocks),
        VictimPolicy::DChoices { choices, seed } => d_choices::choose(superblocks, choices, seed, draws),
    }
}
