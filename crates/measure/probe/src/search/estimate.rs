use std::collections::BTreeMap;

use super::{CellKey, OmittedStatistics, Statistic};
use crate::error_model::{Part, Rate};

/// One measured slice of a cell.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slice {
    pub(super) bandwidth_bytes_per_s: f64,
    /// Counted time, in nanoseconds.
    pub(super) elapsed_ns: f64,
    /// Speed of the reference cell around this slice, relative to its median.
    pub(super) pace: f64,
}

/// Estimated bandwidth of a cell with its uncertainty.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Estimate {
    /// Bandwidth over all slices, corrected for drift.
    pub(super) bandwidth_bytes_per_s: f64,
    /// Standard error of the logarithm of the bandwidth.
    pub(super) log_error: f64,
    /// Number of measured slices.
    pub(super) slices: usize,
}

/// Weight of the neighbouring cells' scatter, in slices.
const PRIOR_SLICES: f64 = 4.0;
/// Smallest relative scatter of a slice of a tenth of a second.
const SCATTER_MIN: f64 = 0.005;
/// Assumed scatter while no cell has been measured twice. It is typical of virtual disks.
const SCATTER_UNKNOWN: f64 = 0.1;
/// Factor by which a cell's scatter loses weight per doubling of block size or depth.
const SCATTER_FADES: f64 = 0.5;
/// Distance, in doublings, to a cell with another order or group size.
const OTHER_ORDER_DOUBLINGS: f64 = 2.0;

/// Estimates of all cells. Few slices say little about a cell's scatter, so it is shrunk to the
/// scatter of neighbouring cells, which counts as [`PRIOR_SLICES`] observations.
pub(super) fn estimates(
    cells: &BTreeMap<CellKey, Vec<Slice>>,
    without: &OmittedStatistics,
) -> BTreeMap<CellKey, Estimate> {
    let scatters: Vec<Scatter> = cells.iter().filter_map(|(key, slices)| Scatter::of(*key, slices)).collect();
    let estimate = |key: &CellKey, slices: &Vec<Slice>| {
        let count = slices.len() as f64;
        let about = variance_about(*key, &scatters);
        let own = relative_variance(slices).unwrap_or(about);
        let degrees = (count - 1.0).max(0.0);
        let prior = if without.contains(&Statistic::Shrinkage) { 1e-9 } else { PRIOR_SLICES };
        let variance = (prior * about + degrees * own) / (prior + degrees);
        Estimate {
            bandwidth_bytes_per_s: rate(slices).map_or(0.0, |rate| rate.value),
            log_error: (variance.max(SCATTER_MIN.powi(2)) / count.max(1.0)).sqrt(),
            slices: slices.len(),
        }
    };
    let counted = cells.iter().filter(|(_, slices)| !slices.is_empty());
    counted.map(|(key, slices)| (*key, estimate(key, slices))).collect()
}

/// Scatter of a cell's slices.
struct Scatter {
    key: CellKey,
    variance: f64,
    degrees: f64,
}

impl Scatter {
    fn of(key: CellKey, slices: &[Slice]) -> Option<Self> {
        Some(Self { key, variance: relative_variance(slices)?, degrees: slices.len() as f64 - 1.0 })
    }

    /// Weight of this scatter for another cell.
    fn weight(&self, key: CellKey) -> f64 {
        let same = self.key.order == key.order && self.key.group_blocks == key.group_blocks;
        let other_order = if same { 0.0 } else { OTHER_ORDER_DOUBLINGS };
        self.degrees * SCATTER_FADES.powf(self.key.doublings_to(key) + other_order)
    }
}

/// Weighted mean variance of the slices of neighbouring cells.
fn variance_about(key: CellKey, scatters: &[Scatter]) -> f64 {
    let weight: f64 = scatters.iter().map(|scatter| scatter.weight(key)).sum();
    if weight <= 0.0 {
        return SCATTER_UNKNOWN.powi(2);
    }
    scatters.iter().map(|scatter| scatter.weight(key) * scatter.variance).sum::<f64>() / weight
}

/// Rate of the slices, with each slice's bytes corrected for the device's pace.
pub(super) fn rate(slices: &[Slice]) -> Option<Rate> {
    let part = |slice: &Slice| Part {
        amount: slice.bandwidth_bytes_per_s * slice.elapsed_ns / slice.pace,
        time: slice.elapsed_ns,
    };
    Rate::of(&slices.iter().map(part).collect::<Vec<_>>())
}

/// Variance of a cell's slices relative to the squared rate; `None` with fewer than two slices.
/// Logarithms aren't used, since a single pause would dominate their variance.
pub(super) fn relative_variance(slices: &[Slice]) -> Option<f64> {
    rate(slices)?.variance()
}

/// Median of `numbers`; 0 if there are none.
pub(super) fn median(numbers: impl IntoIterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = numbers.into_iter().collect();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    let at = |index: usize| sorted.get(index).copied().unwrap_or(0.0);
    if sorted.len().is_multiple_of(2) {
        at(middle.saturating_sub(1)).midpoint(at(middle))
    } else {
        at(middle)
    }
}
