use std::collections::BTreeMap;

use nandle_profile::Interval;
use rand_distr::{Distribution, StandardNormal};

use super::estimate::Estimate;
use super::fit::{Curve, is_random};
use super::{CellKey, Grid};
use crate::pattern::{Generator, generator};

/// Random draws from the measured distributions.
const DRAWS: usize = 400;

/// One bandwidth (bytes per second) for each cell: measured ones, and those of random reading that lie between
/// measured ones.
#[derive(Debug, Clone, Default)]
pub struct Surface {
    cells: BTreeMap<CellKey, f64>,
}

impl Surface {
    /// A surface of known values.
    pub fn new(cells: BTreeMap<CellKey, f64>) -> Self {
        Self { cells }
    }

    /// A cell's bandwidth; `None` where nothing is known.
    pub fn bandwidth(&self, key: CellKey) -> Option<f64> {
        self.cells.get(&key).copied()
    }

    /// All cells.
    pub fn cells(&self) -> impl Iterator<Item = (CellKey, f64)> + '_ {
        self.cells.iter().map(|(key, bandwidth)| (*key, *bandwidth))
    }

    /// The best of some cells.
    pub fn best(&self, mut of: impl FnMut(&CellKey) -> bool) -> Option<f64> {
        self.cells().filter(|(key, _)| of(key)).map(|(_, bandwidth)| bandwidth).reduce(f64::max)
    }

    /// Random reading of single blocks of a size: depth and bandwidth, by depth.
    pub fn random_by_depth(&self, block_bytes: u64) -> impl Iterator<Item = (u32, f64)> + '_ {
        let range = CellKey::random(block_bytes, 0)..=CellKey::random(block_bytes, u32::MAX);
        self.cells.range(range).map(|(key, bandwidth)| (key.queue_depth, *bandwidth))
    }
}

/// The best estimate, and random draws around it.
#[derive(Debug, Clone)]
pub struct Surfaces {
    /// The best estimate.
    pub best: Surface,
    draws: Vec<Surface>,
}

impl Surfaces {
    /// Draws from the estimates, and fills in between them with the curve.
    pub(super) fn new(
        estimates: &BTreeMap<CellKey, Estimate>,
        curve: Option<&Curve>,
        grid: &Grid,
        seed: u64,
    ) -> Self {
        let mut generator = generator(seed, 41);
        let best = estimates.iter().map(|(key, estimate)| (*key, estimate.bandwidth_bytes_per_s)).collect();
        let draws = (0..DRAWS).map(|_| filled(draw(estimates, &mut generator), curve, grid)).collect();
        Self { best: filled(best, curve, grid), draws }
    }

    /// Surfaces without uncertainty, for tests and for exhaustive sweeps.
    pub fn exact(best: Surface) -> Self {
        Self { draws: vec![best.clone()], best }
    }

    /// A figure with its 95 % interval over the draws; `None` where the best estimate gives none. Draws that give
    /// none are left out.
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

    /// The share of draws for which something holds.
    pub fn share(&self, holds: impl Fn(&Surface) -> bool) -> f64 {
        self.draws.iter().filter(|draw| holds(draw)).count() as f64 / self.draws.len().max(1) as f64
    }
}

fn draw(estimates: &BTreeMap<CellKey, Estimate>, generator: &mut Generator) -> BTreeMap<CellKey, f64> {
    let mut drawn = |estimate: &Estimate| {
        let deviation: f64 = StandardNormal.sample(generator);
        estimate.bandwidth_bytes_per_s * (deviation * estimate.log_error).exp()
    };
    estimates.iter().map(|(key, estimate)| (*key, drawn(estimate))).collect()
}

fn filled(measured: BTreeMap<CellKey, f64>, curve: Option<&Curve>, grid: &Grid) -> Surface {
    let Some(curve) = curve else { return Surface { cells: measured } };
    let random =
        measured.iter().filter(|(key, _)| is_random(key)).map(|(key, value)| (*key, *value)).collect();
    let mut cells = measured;
    for key in grid.random_cells() {
        cells.entry(key).or_insert_with(|| curve.between(key, &random));
    }
    Surface { cells }
}
