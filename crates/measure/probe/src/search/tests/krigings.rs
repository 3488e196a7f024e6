//! Kriging on synthetic surfaces with known truth.

use std::collections::{BTreeMap, BTreeSet};

use rand_distr::{Distribution, StandardNormal};

use super::super::estimate::Slice;
use super::super::read_model::ReadModel;
use super::super::*;
use crate::pattern::{Generator, generator};

const CURVE: Curve = Curve {
    request_ns: 90_000.0,
    ns_per_byte: 0.8,
    iops_max: 60_000.0,
    bandwidth_bytes_per_s_max: 900e6,
    sharpness: 5.0,
};

fn grid() -> Grid {
    Grid {
        block_sizes: (11..=22).map(|power| 1 << power).collect(),
        queue_depths: (0..=8).map(|power| 1 << power).collect(),
        outstanding_bytes_max: 64 << 20,
    }
}

fn normal(generator: &mut Generator) -> f64 {
    StandardNormal.sample(generator)
}

/// Slices of the skeleton's cells, or of all cells.
fn slices(truth: impl Fn(CellKey) -> f64, all: bool, noise: f64, seed: u64) -> BTreeMap<CellKey, Vec<Slice>> {
    let mut generator = generator(seed, 1);
    let skeleton: Vec<CellKey> = schedule::skeleton(&grid()).into_iter().flatten().collect();
    let cells = grid().random_cells().filter(|key| all || skeleton.contains(key)).collect::<Vec<_>>();
    let mut slice = |key: CellKey| Slice {
        bandwidth_bytes_per_s: truth(key) * (noise * normal(&mut generator)).exp(),
        elapsed_ns: 1e8,
        pace: 1.0,
    };
    cells.into_iter().map(|key| (key, (0..4).map(|_| slice(key)).collect())).collect()
}

fn curve(key: CellKey) -> f64 {
    CURVE.bandwidth_bytes_per_s(key.block_bytes, key.queue_depth)
}

/// The curve with an independent deviation of about 10 % in each cell.
fn quirky(key: CellKey) -> f64 {
    let mut generator = generator(key.block_bytes + u64::from(key.queue_depth), 2);
    curve(key) * (0.1 * normal(&mut generator)).exp()
}

/// Root mean square of the cells' log errors.
fn off_by(cells: impl Iterator<Item = (CellKey, f64)>, truth: impl Fn(CellKey) -> f64) -> f64 {
    let squares: Vec<f64> = cells.map(|(key, bandwidth)| (bandwidth / truth(key)).ln().powi(2)).collect();
    (squares.iter().sum::<f64>() / squares.len() as f64).sqrt()
}

fn means(slices: &BTreeMap<CellKey, Vec<Slice>>) -> impl Iterator<Item = (CellKey, f64)> {
    estimate::estimates(slices, &BTreeSet::new())
        .into_iter()
        .map(|(key, estimate)| (key, estimate.bandwidth_bytes_per_s))
}

#[test]
fn neighbours_average_out_the_noise_of_a_smooth_device() {
    for seed in 1..=5 {
        let slices = slices(curve, true, 0.2, seed);
        let (raw, kriged) = (
            off_by(means(&slices), curve),
            off_by(ReadModel::of(&slices, &grid(), &BTreeSet::new()).surface().cells(), curve),
        );
        assert!(kriged < 0.5 * raw, "seed {seed}: {kriged}, means alone {raw}");
    }
}

#[test]
fn a_cells_own_deviation_is_kept() {
    for seed in 1..=5 {
        let slices = slices(quirky, true, 0.01, seed);
        let kriged = off_by(ReadModel::of(&slices, &grid(), &BTreeSet::new()).surface().cells(), quirky);
        assert!(kriged < 0.01, "seed {seed}: {kriged}");
    }
}

#[test]
fn errors_of_unmeasured_cells_cover_the_truth() {
    for truth in [curve, quirky] {
        let (mut held, mut of) = (0, 0);
        for seed in 1..=5 {
            let known = ReadModel::of(&slices(truth, false, 0.05, seed), &grid(), &BTreeSet::new());
            for (key, cell) in known.cells.iter().filter(|(_, cell)| cell.slices == 0) {
                of += 1;
                let deviations = (cell.bandwidth_bytes_per_s / truth(*key)).ln().abs() / cell.log_error;
                held += usize::from(deviations < 1.96);
            }
            let fit = known.fit().unwrap();
            assert!(fit.error_median <= fit.error_p90 && fit.error_p90 < 0.4, "{fit:?}");
        }
        assert!(of > 100 && held * 100 > of * 88, "{held} of {of}");
    }
}

#[test]
fn the_spread_of_draws_matches_the_errors() {
    let known = ReadModel::of(&slices(quirky, false, 0.1, 1), &grid(), &BTreeSet::new());
    let mut generator = generator(3, 3);
    let draws: Vec<Surface> = (0..400).map(|_| known.draw(&mut generator)).collect();
    for (key, cell) in &known.cells {
        let logs = draws
            .iter()
            .map(|draw| (draw.bandwidth(*key).unwrap() / cell.bandwidth_bytes_per_s).ln().powi(2));
        let ratio = (logs.sum::<f64>() / 400.0).sqrt() / cell.log_error;
        assert!((0.85..1.15).contains(&ratio), "{key:?}: {ratio}");
    }
}

#[test]
fn too_few_cells_for_a_curve_keep_their_own_values() {
    let few = slices(curve, true, 0.1, 1).into_iter().take(5).collect();
    let known = ReadModel::of(&few, &grid(), &BTreeSet::new());
    assert!(known.fit().is_none());
    assert_eq!(known.cells, estimate::estimates(&few, &BTreeSet::new()));
}
