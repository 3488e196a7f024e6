//! The curve of random reading over block size and queue depth, and the cells in between.

use std::collections::BTreeMap;

use nandle_profile::FitSummary;

use super::estimate::{Estimate, median};
use super::{CellKey, Grid, Order};

/// `1/X^p = (t/(q·b))^p + (1/(i·b))^p + (1/w)^p`, `t = request_ns + b · ns_per_byte`: bound by latency, by the rate
/// of requests, and by bandwidth, joined smoothly.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Curve {
    /// Time of a request of no length at depth 1.
    pub request_ns: f64,
    /// Time that each byte adds at depth 1.
    pub ns_per_byte: f64,
    /// The bound on requests per second.
    pub iops_max: f64,
    /// The bound on bytes per second.
    pub bandwidth_bytes_per_s_max: f64,
    /// The sharpness `p` of the knees.
    pub sharpness: f64,
}

/// Fewer cells than this say nothing of five parameters.
const CELLS_MIN: usize = 8;
/// Passes over the parameters.
const PASSES: usize = 60;

impl Curve {
    /// Bandwidth of a cell, in bytes per second.
    pub fn bandwidth_bytes_per_s(&self, block_bytes: u64, queue_depth: u32) -> f64 {
        let block = block_bytes as f64;
        let by_latency = f64::from(queue_depth) * block / (self.request_ns + block * self.ns_per_byte) * 1e9;
        let by_rate = self.iops_max * block;
        let inverse = |bound: f64| bound.powf(-self.sharpness);
        (inverse(by_latency) + inverse(by_rate) + inverse(self.bandwidth_bytes_per_s_max))
            .powf(-1.0 / self.sharpness)
    }

    /// The curve that comes closest to the measured cells, by least squares of logarithms; `None` when there are too
    /// few.
    pub(super) fn fit(cells: &BTreeMap<CellKey, Estimate>) -> Option<Self> {
        let cells: Vec<_> = cells.iter().filter(|(key, _)| is_random(key)).collect();
        if cells.len() < CELLS_MIN {
            return None;
        }
        let mut curve = Self::first_guess(&cells);
        let mut error = curve.squared_error(&cells);
        let mut step = 1.5;
        for _ in 0..PASSES {
            let before = error;
            for parameter in Parameter::ALL {
                for factor in [step, 1.0 / step] {
                    let tried = curve.with(parameter, factor);
                    let tried_error = tried.squared_error(&cells);
                    if tried_error < error {
                        (curve, error) = (tried, tried_error);
                    }
                }
            }
            if error >= before {
                step = 1.0 + (step - 1.0) / 2.0;
            }
        }
        Some(curve)
    }

    fn first_guess(cells: &[(&CellKey, &Estimate)]) -> Self {
        let rate =
            |(key, estimate): &(&CellKey, &Estimate)| estimate.bandwidth_bytes_per_s / key.block_bytes as f64;
        let alone = cells.iter().filter(|(key, _)| key.queue_depth == 1);
        let fastest_alone = alone.map(rate).fold(1.0, f64::max);
        let widest = cells.iter().map(|(_, estimate)| estimate.bandwidth_bytes_per_s).fold(1.0, f64::max);
        Self {
            request_ns: 1e9 / fastest_alone,
            ns_per_byte: 1e9 / widest,
            iops_max: cells.iter().map(rate).fold(1.0, f64::max),
            bandwidth_bytes_per_s_max: widest,
            sharpness: 4.0,
        }
    }

    fn squared_error(&self, cells: &[(&CellKey, &Estimate)]) -> f64 {
        cells
            .iter()
            .map(|(key, estimate)| self.log_residual(key, estimate.bandwidth_bytes_per_s).powi(2))
            .sum()
    }

    fn log_residual(&self, key: &CellKey, bandwidth_bytes_per_s: f64) -> f64 {
        let fitted = self.bandwidth_bytes_per_s(key.block_bytes, key.queue_depth);
        (bandwidth_bytes_per_s.max(1.0) / fitted.max(1.0)).ln()
    }

    fn with(mut self, parameter: Parameter, factor: f64) -> Self {
        match parameter {
            Parameter::RequestNs => self.request_ns *= factor,
            Parameter::NsPerByte => self.ns_per_byte *= factor,
            Parameter::IopsMax => self.iops_max *= factor,
            Parameter::BandwidthMax => self.bandwidth_bytes_per_s_max *= factor,
            Parameter::Sharpness => self.sharpness = (self.sharpness * factor).clamp(1.0, 64.0),
        }
        self
    }

    /// Bandwidth of a cell from the curve and the measured cells of the same block size: their residuals,
    /// interpolated over the logarithm of the depth.
    pub(super) fn between(&self, key: CellKey, measured: &BTreeMap<CellKey, f64>) -> f64 {
        let residual = self.residual_at(key, measured);
        self.bandwidth_bytes_per_s(key.block_bytes, key.queue_depth) * residual.exp()
    }

    fn residual_at(&self, key: CellKey, measured: &BTreeMap<CellKey, f64>) -> f64 {
        let first = CellKey::random(key.block_bytes, 0);
        let last = CellKey::random(key.block_bytes, u32::MAX);
        let below = measured.range(first..key).next_back();
        let above = measured.range(CellKey { queue_depth: key.queue_depth + 1, ..key }..last).next();
        let residual = |(key, bandwidth): (&CellKey, &f64)| self.log_residual(key, *bandwidth);
        match (below, above) {
            (Some(below), Some(above)) => {
                let [low, at, high] = [below.0, &key, above.0].map(|key| f64::from(key.queue_depth).log2());
                let share = (at - low) / (high - low);
                residual(below) * (1.0 - share) + residual(above) * share
            }
            (Some(one), None) | (None, Some(one)) => residual(one),
            (None, None) => 0.0,
        }
    }

    /// The curve with its error: each measured cell is left out in turn and predicted from the others.
    pub(super) fn summary(&self, measured: &BTreeMap<CellKey, f64>) -> FitSummary {
        let error = |(key, bandwidth): (&CellKey, &f64)| {
            let mut others = measured.clone();
            others.remove(key);
            (self.between(*key, &others) / bandwidth - 1.0).abs()
        };
        let mut errors: Vec<f64> = measured.iter().filter(|(key, _)| is_random(key)).map(error).collect();
        errors.sort_by(f64::total_cmp);
        let p90 = errors.get(errors.len() * 9 / 10).or(errors.last());
        FitSummary {
            request_ns: self.request_ns,
            ns_per_byte: self.ns_per_byte,
            iops_max: self.iops_max,
            bandwidth_bytes_per_s_max: self.bandwidth_bytes_per_s_max,
            sharpness: self.sharpness,
            error_median: median(errors.iter().copied()),
            error_p90: p90.copied().unwrap_or(0.0),
        }
    }
}

#[derive(Clone, Copy)]
enum Parameter {
    RequestNs,
    NsPerByte,
    IopsMax,
    BandwidthMax,
    Sharpness,
}

impl Parameter {
    const ALL: [Self; 5] =
        [Self::RequestNs, Self::NsPerByte, Self::IopsMax, Self::BandwidthMax, Self::Sharpness];
}

/// Whether the curve is about this cell.
pub(super) fn is_random(key: &CellKey) -> bool {
    key.order == Order::Random && key.group_blocks == 1
}

/// The cells of random reading that were not measured, while a deeper one of the same block size was. Beyond the
/// deepest nothing shows how the curve goes on.
pub(super) fn in_between(grid: &Grid, measured: &BTreeMap<CellKey, f64>) -> Vec<CellKey> {
    let is_between = |key: &CellKey| {
        let deeper = *key..=CellKey::random(key.block_bytes, u32::MAX);
        !measured.contains_key(key) && measured.range(deeper).next().is_some()
    };
    grid.random_cells().filter(is_between).collect()
}
