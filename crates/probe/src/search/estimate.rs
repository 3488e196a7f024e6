use std::collections::BTreeMap;

use super::CellKey;

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

/// Slices at which a cell's own scatter counts as much as the scatter of all cells together.
const PRIOR_SLICES: f64 = 4.0;
/// No measurement of a tenth of a second is surer than this.
const LOG_SCATTER_MIN: f64 = 0.005;

/// Estimates for all cells. With few slices a cell's own scatter says little, so it is drawn towards the scatter
/// of all cells together (shrinkage), which counts as [`PRIOR_SLICES`] observations.
pub(super) fn estimates(cells: &BTreeMap<CellKey, Vec<Slice>>) -> BTreeMap<CellKey, Estimate> {
    let pooled = pooled_log_variance(cells);
    let estimate = |slices: &Vec<Slice>| {
        let count = slices.len() as f64;
        let own = log_variance(slices).unwrap_or(pooled);
        let degrees = (count - 1.0).max(0.0);
        let variance = (PRIOR_SLICES * pooled + degrees * own) / (PRIOR_SLICES + degrees);
        Estimate {
            bandwidth_bytes_per_s: mean_bandwidth(slices),
            log_error: (variance.max(LOG_SCATTER_MIN.powi(2)) / count.max(1.0)).sqrt(),
            slices: slices.len(),
        }
    };
    cells
        .iter()
        .filter(|(_, slices)| !slices.is_empty())
        .map(|(key, slices)| (*key, estimate(slices)))
        .collect()
}

/// Bytes by time, each slice's bytes corrected for the device's pace. A mean over time, so that the pauses of
/// single slices count as they would in one long run.
fn mean_bandwidth(slices: &[Slice]) -> f64 {
    let bytes: f64 =
        slices.iter().map(|slice| slice.bandwidth_bytes_per_s * slice.elapsed_ns / slice.pace).sum();
    let time: f64 = slices.iter().map(|slice| slice.elapsed_ns).sum();
    if time > 0.0 { bytes / time } else { 0.0 }
}

/// The variance of the logarithm of a cell's slices; `None` with fewer than two.
pub(super) fn log_variance(slices: &[Slice]) -> Option<f64> {
    let count = slices.len() as f64;
    if count < 2.0 {
        return None;
    }
    let logs = || slices.iter().map(|slice| (slice.bandwidth_bytes_per_s / slice.pace).max(1.0).ln());
    let mean = logs().sum::<f64>() / count;
    Some(logs().map(|log| (log - mean).powi(2)).sum::<f64>() / (count - 1.0))
}

/// The variance that cells have on average, weighted by how much each has to say.
fn pooled_log_variance(cells: &BTreeMap<CellKey, Vec<Slice>>) -> f64 {
    let parts =
        || cells.values().filter_map(|slices| Some((log_variance(slices)?, slices.len() as f64 - 1.0)));
    let degrees: f64 = parts().map(|(_, degrees)| degrees).sum();
    if degrees < 1.0 {
        // Nothing was measured twice yet: what virtual disks show between two equal cells.
        return 0.1_f64.powi(2);
    }
    parts().map(|(variance, degrees)| variance * degrees).sum::<f64>() / degrees
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
