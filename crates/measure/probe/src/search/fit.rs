//! Curve of random reads over block size and queue depth, and the cells between measured ones.

use std::collections::BTreeMap;

use nandle_profile::FitSummary;

use super::estimate::Estimate;
use super::{CellKey, Grid, Order};

/// `1/X^p = (t/(q·b))^p + (1/(i·b))^p + (1/w)^p`, `t = request_ns + b · ns_per_byte`: a smooth
/// minimum of the bounds by latency, by request rate and by bandwidth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Curve {
    /// Time of a request of zero bytes at depth 1.
    pub request_ns: f64,
    /// Time per byte at depth 1.
    pub ns_per_byte: f64,
    /// Upper bound of requests per second.
    pub iops_max: f64,
    /// Upper bound of bytes per second.
    pub bandwidth_bytes_per_s_max: f64,
    /// Sharpness `p` of the knees.
    pub sharpness: f64,
}

/// Fewest cells that can determine five parameters.
const CELLS_MIN: usize = 8;
const PASSES: usize = 60;
/// Factor near 1 for numerical slopes.
const SLOPE_STEP: f64 = 1.01;
/// Smallest assumed squared misfit of a five-parameter curve: 0.1 %, squared.
const MISSED_MIN: f64 = 1e-6;

impl Curve {
    /// Number of parameters.
    pub(super) const PARAMETERS: usize = Parameter::ALL.len();

    /// Sensitivity of the logarithm at a cell to the logarithm of each parameter.
    pub(super) fn slopes(self, key: CellKey) -> [f64; Self::PARAMETERS] {
        let log = |curve: Self| curve.bandwidth_bytes_per_s(key.block_bytes, key.queue_depth).ln();
        Parameter::ALL.map(|parameter| (log(self.with(parameter, SLOPE_STEP)) - log(self)) / SLOPE_STEP.ln())
    }

    /// Bandwidth of a cell, in bytes per second.
    pub fn bandwidth_bytes_per_s(&self, block_bytes: u64, queue_depth: u32) -> f64 {
        let block = block_bytes as f64;
        let by_latency = f64::from(queue_depth) * block / (self.request_ns + block * self.ns_per_byte) * 1e9;
        let by_rate = self.iops_max * block;
        let bounds = [by_latency, by_rate, self.bandwidth_bytes_per_s_max];
        // Normalising by the smallest bound avoids overflow when the knees are sharp.
        let least = bounds.into_iter().fold(f64::INFINITY, f64::min);
        let beyond: f64 = bounds.into_iter().map(|bound| (least / bound).powf(self.sharpness)).sum();
        least * beyond.powf(-1.0 / self.sharpness)
    }

    /// Least-squares fit of the logarithms. Cells are weighted by their error and by the curve's
    /// own misfit. Returns `None` if there are too few cells.
    pub(super) fn fit(cells: &BTreeMap<CellKey, Estimate>) -> Option<Self> {
        let cells: Vec<_> = cells.iter().filter(|(key, _)| is_random(key)).collect();
        if cells.len() < CELLS_MIN {
            return None;
        }
        let rough = Self::first_guess(&cells).improved(&cells, 1.0);
        let missed = cells.iter().map(|(key, estimate)| rough.missed(key, estimate)).sum::<f64>();
        Some(rough.improved(&cells, (missed / cells.len() as f64).max(MISSED_MIN)))
    }

    /// Constant curve: the same bandwidth everywhere.
    pub(super) fn flat(cells: &BTreeMap<CellKey, Estimate>) -> Option<Self> {
        let logs = cells.values().map(|estimate| estimate.bandwidth_bytes_per_s.max(1.0).ln());
        let mean = logs.sum::<f64>() / cells.len() as f64;
        (!cells.is_empty()).then(|| Self {
            request_ns: 1e-9,
            ns_per_byte: 1e-12,
            iops_max: 1e30,
            bandwidth_bytes_per_s_max: mean.exp(),
            sharpness: 4.0,
        })
    }

    /// Improves the parameters by coordinate descent. `missed` is the variance of the curve's
    /// misfit beyond the cells' errors. Levenberg–Marquardt isn't needed: five parameters take a
    /// millisecond, the sharpness is bounded, and no step needs a matrix that may be singular.
    fn improved(self, cells: &[(&CellKey, &Estimate)], missed: f64) -> Self {
        let (mut curve, mut step) = (self, 1.5);
        let mut error = curve.squared_error(cells, missed);
        for _ in 0..PASSES {
            let before = error;
            for parameter in Parameter::ALL {
                for factor in [step, 1.0 / step] {
                    let tried = curve.with(parameter, factor);
                    let tried_error = tried.squared_error(cells, missed);
                    if tried_error < error {
                        (curve, error) = (tried, tried_error);
                    }
                }
            }
            if error >= before {
                step = 1.0 + (step - 1.0) / 2.0;
            }
        }
        curve
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

    fn squared_error(&self, cells: &[(&CellKey, &Estimate)], missed: f64) -> f64 {
        let of_cell = |(key, estimate): &(&CellKey, &Estimate)| {
            self.log_residual(key, estimate.bandwidth_bytes_per_s).powi(2)
                / (missed + estimate.log_error.powi(2))
        };
        cells.iter().map(of_cell).sum()
    }

    /// Squared misfit at a cell minus the expected measurement error.
    fn missed(&self, key: &CellKey, estimate: &Estimate) -> f64 {
        self.log_residual(key, estimate.bandwidth_bytes_per_s).powi(2) - estimate.log_error.powi(2)
    }

    /// Logarithm of the ratio of a bandwidth to the curve.
    pub(super) fn log_residual(&self, key: &CellKey, bandwidth_bytes_per_s: f64) -> f64 {
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

    /// The curve's parameters with its leave-one-out errors: the median and the 90th percentile.
    pub(super) fn summary(&self, (error_median, error_p90): (f64, f64)) -> FitSummary {
        FitSummary {
            request_ns: self.request_ns,
            ns_per_byte: self.ns_per_byte,
            iops_max: self.iops_max,
            bandwidth_bytes_per_s_max: self.bandwidth_bytes_per_s_max,
            sharpness: self.sharpness,
            error_median,
            error_p90,
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

/// Returns true if the curve covers this cell.
pub(super) fn is_random(key: &CellKey) -> bool {
    key.order == Order::Random && key.group_blocks == 1
}

/// Unmeasured cells of random reads that have a deeper measured cell of the same block size. The
/// curve isn't extrapolated beyond the deepest one.
pub(super) fn in_between(grid: &Grid, measured: &BTreeMap<CellKey, Estimate>) -> Vec<CellKey> {
    let is_between = |key: &CellKey| {
        let deeper = *key..=CellKey::random(key.block_bytes, u32::MAX);
        !measured.contains_key(key) && measured.range(deeper).next().is_some()
    };
    grid.random_cells().filter(is_between).collect()
}
