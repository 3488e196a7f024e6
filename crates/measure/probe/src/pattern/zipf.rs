use rand_distr::Distribution;

use super::{Area, Generator, generator};

/// Skewed pattern: the block of rank r is drawn in proportion to 1/rᵗ (t is theta). Ranks are
/// scattered over the area.
#[derive(Debug)]
pub struct Zipf {
    area: Area,
    ranks: rand_distr::Zipf<f64>,
    /// Multiplier coprime to the number of blocks, so that rank × `scatter` modulo blocks differs
    /// for each rank.
    scatter: u64,
    generator: Generator,
}

impl Zipf {
    /// Blocks of `area` with skew `theta`; `None` if `theta` is negative.
    pub fn new(area: Area, theta: f64, seed: u64) -> Option<Self> {
        let ranks = rand_distr::Zipf::new(area.blocks as f64, theta).ok()?;
        Some(Self { area, ranks, scatter: prime_to(area.blocks), generator: generator(seed, 5) })
    }
}

impl Iterator for Zipf {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a rank from 1 to the blocks"
        )]
        let rank = (self.ranks.sample(&mut self.generator) as u64).clamp(1, self.area.blocks) - 1;
        let block = u128::from(rank) * u128::from(self.scatter) % u128::from(self.area.blocks);
        Some(self.area.offset_bytes(u64::try_from(block).unwrap_or(0)))
    }
}

/// Smallest number from about 0.618 × `blocks` on that is coprime to `blocks`.
fn prime_to(blocks: u64) -> u64 {
    let start = blocks / 1000 * 618 + blocks % 1000 * 618 / 1000;
    (start.max(1)..=start.saturating_add(blocks).max(1))
        .find(|candidate| gcd(*candidate, blocks) == 1)
        .unwrap_or(1)
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
