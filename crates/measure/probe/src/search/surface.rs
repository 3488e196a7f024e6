use std::collections::BTreeMap;

use nandle_profile::{Interval, isotonic};

use super::fit::is_random;
use super::read_model::ReadModel;
use super::{CellKey, OmittedStatistics, Order, Statistic};
use crate::pattern::generator;

/// Number of random draws from the estimated distributions.
const DRAWS: usize = 400;

/// Bandwidth of each cell in bytes per second: measured cells, and random reads between them.
#[derive(Debug, Clone)]
pub struct Surface {
    cells: BTreeMap<CellKey, f64>,
    /// True if depths at which bandwidth falls are pooled.
    pools: bool,
}

impl Default for Surface {
    /// Empty surface.
    fn default() -> Self {
        Self::new(BTreeMap::new())
    }
}

impl Surface {
    /// Creates a surface of the given bandwidths.
    pub fn new(cells: BTreeMap<CellKey, f64>) -> Self {
        Self { cells, pools: true }
    }

    /// Leaves out some statistics. Without pooling, a depth at which bandwidth falls counts as the
    /// best depth before it.
    #[must_use]
    pub(super) fn without(self, statistics: &OmittedStatistics) -> Self {
        Self { pools: !statistics.contains(&Statistic::Pooling), ..self }
    }

    /// Bandwidths by depth, made non-decreasing.
    fn non_falling(&self, row: &[f64]) -> Vec<f64> {
        if self.pools {
            return isotonic(row);
        }
        let most_so_far = |most: &mut f64, bandwidth: &f64| {
            *most = most.max(*bandwidth);
            Some(*most)
        };
        row.iter().scan(0.0, most_so_far).collect()
    }

    /// Bandwidth of a cell, if known.
    pub fn bandwidth(&self, key: CellKey) -> Option<f64> {
        self.cells.get(&key).copied()
    }

    /// All cells with their bandwidth.
    pub fn cells(&self) -> impl Iterator<Item = (CellKey, f64)> + '_ {
        self.cells.iter().map(|(key, bandwidth)| (*key, *bandwidth))
    }

    /// Queue depths of random reads of single blocks, ascending.
    pub fn random_depths(&self, block_bytes: u64) -> impl Iterator<Item = u32> + '_ {
        self.random_row(block_bytes).map(|(key, _)| key.queue_depth)
    }

    /// Queue depths and bandwidths of random reads of single blocks, by depth and non-decreasing.
    pub fn random_by_depth(&self, block_bytes: u64) -> Vec<(u32, f64)> {
        let row: Vec<f64> = self.random_row(block_bytes).map(|(_, bandwidth)| *bandwidth).collect();
        self.random_depths(block_bytes).zip(self.non_falling(&row)).collect()
    }

    /// Plateau of a block size: the best bandwidth of random reads of single blocks.
    pub fn plateau(&self, block_bytes: u64) -> Option<f64> {
        self.random_by_depth(block_bytes).last().map(|(_, bandwidth)| *bandwidth)
    }

    /// Best bandwidth of random reads of single blocks of any size.
    pub fn full_random(&self) -> Option<f64> {
        self.random_blocks().filter_map(|block| self.plateau(block)).reduce(f64::max)
    }

    /// Best bandwidth of sequential reads of a block size: the mean over the depths that come near
    /// it.
    pub fn sequential_plateau(&self, block_bytes: u64) -> Option<f64> {
        let range = CellKey::sequential(block_bytes, 0)..=CellKey::sequential(block_bytes, u32::MAX);
        let row: Vec<f64> = self.cells.range(range).map(|(_, bandwidth)| *bandwidth).collect();
        self.non_falling(&row).last().copied()
    }

    /// Best bandwidth of sequential reads of any size.
    pub fn full_sequential(&self) -> Option<f64> {
        self.sequential_blocks().filter_map(|block| self.sequential_plateau(block)).reduce(f64::max)
    }

    /// Block sizes of sequential reads.
    pub fn sequential_blocks(&self) -> impl Iterator<Item = u64> + '_ {
        self.cells.keys().filter(|key| key.order == Order::Sequential).map(|key| key.block_bytes)
    }

    /// Block sizes of random reads of single blocks, ascending.
    pub fn random_blocks(&self) -> impl Iterator<Item = u64> + '_ {
        let mut last = 0;
        let blocks = self.cells.keys().filter(|key| is_random(key)).map(|key| key.block_bytes);
        blocks.filter(move |block| std::mem::replace(&mut last, *block) != *block)
    }

    fn random_row(&self, block_bytes: u64) -> impl Iterator<Item = (&CellKey, &f64)> + '_ {
        self.cells.range(CellKey::random(block_bytes, 0)..=CellKey::random(block_bytes, u32::MAX))
    }
}

/// Best estimate, with random draws around it.
#[derive(Debug, Clone)]
pub struct Surfaces {
    /// Surface of the best estimates.
    pub best: Surface,
    draws: Vec<Surface>,
}

impl Surfaces {
    /// Creates the best estimate and its random draws.
    pub(super) fn new(model: &ReadModel, seed: u64) -> Self {
        let mut generator = generator(seed, 41);
        let draws = (0..DRAWS).map(|_| model.draw(&mut generator)).collect();
        Self { best: model.surface(), draws }
    }

    /// Surfaces without uncertainty, for tests and exhaustive sweeps.
    pub fn exact(best: Surface) -> Self {
        Self { draws: vec![best.clone()], best }
    }

    /// 95 % interval of a figure over the draws; `None` if the best estimate has no such figure.
    /// Draws without it are ignored.
    pub fn interval<T: PartialOrd + Copy>(
        &self,
        mut figure: impl FnMut(&Surface) -> Option<T>,
    ) -> Option<Interval<T>> {
        let value = figure(&self.best)?;
        let mut drawn: Vec<T> = self.draws.iter().filter_map(&mut figure).collect();
        drawn.sort_by(|a, b| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal));
        let at =
            |share: usize| drawn.get(drawn.len().saturating_sub(1) * share / 1000).copied().unwrap_or(value);
        let (low, high) = (at(25), at(975));
        let low = if value < low { value } else { low };
        let high = if value > high { value } else { high };
        Some(Interval { value, low, high })
    }

    /// Share of the draws for which `holds` is true.
    pub fn share(&self, holds: impl Fn(&Surface) -> bool) -> f64 {
        self.draws.iter().filter(|draw| holds(draw)).count() as f64 / self.draws.len().max(1) as f64
    }
}
