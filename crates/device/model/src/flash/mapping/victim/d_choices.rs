//! Least valid data among *d* superblocks drawn at random (B. Van Houdt: *A mean field model for a
//! class of garbage collection algorithms in flash-based solid state drives*, SIGMETRICS 2013).

use super::super::super::units::saturating_u32;
use super::{Candidate, Superblocks, greedy};

/// Draws without a candidate before all superblocks are considered.
const FRUITLESS_DRAWS: u32 = 64;

/// Chooses the victim. `position` counts the draws in the drive's life, so that they continue from
/// a saved state.
pub(crate) fn choose(
    superblocks: &Superblocks,
    choices: u32,
    seed: u64,
    position: &mut u64,
) -> Option<Candidate> {
    greedy::choose((0..choices).filter_map(|_| draw(superblocks, seed, position)))
}

fn draw(superblocks: &Superblocks, seed: u64, position: &mut u64) -> Option<Candidate> {
    for _ in 0..FRUITLESS_DRAWS {
        *position += 1;
        let index = mix(seed, *position) % u64::from(superblocks.len().max(1));
        let candidate = superblocks.candidate(saturating_u32(index));
        if candidate.is_some() {
            return candidate;
        }
    }
    greedy::choose(superblocks.candidates())
}

/// Number at `position` in the sequence of this seed (Steele, Lea, Flood: `SplitMix64`, OOPSLA
/// 2014).
fn mix(seed: u64, position: u64) -> u64 {
    let mut value = seed.wrapping_add(position.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    value = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    value = (value ^ (value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    value ^ (value >> 31)
}
