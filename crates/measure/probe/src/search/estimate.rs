use std::collections::BTreeMap;

use super::{CellKey, Statistic, Without};
use crate::error_model::{Part, Rate};

/// One slice of a cell.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slice {
    /// Bytes by time.
    pub(super) bandwidth_bytes_per_s: f64,
    /// Nanoseconds that were counted.
    pub(super) elapsed_ns: f64,
    /// How fast the reference cell was about that time, relative to its median; 1 when it was as ever.
    pub(super) pace: f64,
}

/// A cell's bandwidth, and how sure it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Estimate {
    /// Bytes by time over all slices, corrected for drift.
    pub(super) bandwidth_bytes_per_s: f64,
    /// Standard error of its logarithm.
    pub(super) log_error: f64,
    /// Slices it comes from.
    pub(super) slices: usize,
}

/// Slices at which a cell's own scatter counts as much as that of the cells about it.
const PRIOR_SLICES: f64 = 4.0;
/// No measurement of a tenth of a second is surer than this.
const SCATTER_MIN: f64 = 0.005;
/// What virtual disks show between two equal slices, as long as nothing was measured twice.
const SCATTER_UNKNOWN: f64 = 0.1;
/// A cell's scatter says half as much of one a doubling of block size or depth away.
const SCATTER_FADES: f64 = 0.5;
/// And as much less of one in another order or in groups of another size, which is this many doublings.
const OTHER_ORDER_DOUBLINGS: f64 = 2.0;

/// Estimates for all cells. With few slices a cell's own scatter says little, so it is drawn towards the scatter
/// of the cells about it (shrinkage), which counts as [`PRIOR_SLICES`] observations.
pub(super) fn estimates(
    cells: &BTreeMap<CellKey, Vec<Slice>>,
    without: &Without,
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

/// How much the slices of a cell differ.
struct Scatter {
    key: CellKey,
    variance: f64,
    degrees: f64,
}

impl Scatter {
    fn of(key: CellKey, slices: &[Slice]) -> Option<Self> {
        Some(Self { key, variance: relative_variance(slices)?, degrees: slices.len() as f64 - 1.0 })
    }

    /// How much it says of another cell.
    fn weight(&self, key: CellKey) -> f64 {
        let same = self.key.order == key.order && self.key.group_blocks == key.group_blocks;
        let other_order = if same { 0.0 } else { OTHER_ORDER_DOUBLINGS };
        self.degrees * SCATTER_FADES.powf(self.key.doublings_to(key) + other_order)
    }
}

/// The variance that slices of the cells about one have.
fn variance_about(key: CellKey, scatters: &[Scatter]) -> f64 {
    let weight: f64 = scatters.iter().map(|scatter| scatter.weight(key)).sum();
    if weight <= 0.0 {
        return SCATTER_UNKNOWN.powi(2);
    }
    scatters.iter().map(|scatter| scatter.weight(key) * scatter.variance).sum::<f64>() / weight
}

/// The rate of slices, each slice's bytes corrected for the device's pace.
pub(super) fn rate(slices: &[Slice]) -> Option<Rate> {
    let part = |slice: &Slice| Part {
        amount: slice.bandwidth_bytes_per_s * slice.elapsed_ns / slice.pace,
        time: slice.elapsed_ns,
    };
    Rate::of(&slices.iter().map(part).collect::<Vec<_>>())
}

/// The variance of a cell's slices, relative to their rate squared; `None` with fewer than two. Not that of their
/// logarithms, in which a single pause would outweigh everything.
pub(super) fn relative_variance(slices: &[Slice]) -> Option<f64> {
    rate(slices)?.variance()
}

/// The median of some numbers; 0 of none.
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
