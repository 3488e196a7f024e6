//! Replacements for the curve and for kriging in ablations.

use std::collections::BTreeMap;

use super::CellKey;
use super::estimate::{Estimate, median};
use super::fit::Curve;

/// Standard deviation of a normal distribution divided by its median deviation.
const BY_MEDIAN_DEVIATION: f64 = 1.4826;
/// Assumed error of linear interpolation, as a part of the difference between the two cells.
const LINE_DEVIATION: f64 = 1.0 / 8.0;

/// Cells on the curve. Their error is the curve's deviation at measured cells.
pub(super) fn on_curve(
    measured: &BTreeMap<CellKey, Estimate>,
    others: &[CellKey],
    curve: &Curve,
) -> BTreeMap<CellKey, Estimate> {
    let residual =
        |(key, cell): (&CellKey, &Estimate)| curve.log_residual(key, cell.bandwidth_bytes_per_s).abs();
    let log_error = BY_MEDIAN_DEVIATION * median(measured.iter().map(residual));
    let estimate = |key: &CellKey| {
        let bandwidth_bytes_per_s = curve.bandwidth_bytes_per_s(key.block_bytes, key.queue_depth);
        (*key, Estimate { bandwidth_bytes_per_s, log_error, slices: 0 })
    };
    others.iter().map(estimate).collect()
}

/// Cells interpolated linearly in logarithms over depth, between their measured neighbours.
pub(super) fn on_lines(
    measured: &BTreeMap<CellKey, Estimate>,
    others: &[CellKey],
) -> BTreeMap<CellKey, Estimate> {
    others.iter().filter_map(|key| Some((*key, on_line(measured, *key)?))).collect()
}

fn on_line(measured: &BTreeMap<CellKey, Estimate>, key: CellKey) -> Option<Estimate> {
    let below = measured.range(CellKey::random(key.block_bytes, 0)..key).next_back();
    let above = measured.range(key..=CellKey::random(key.block_bytes, u32::MAX)).next();
    let ((low_key, low), (high_key, high)) = below.zip(above)?;
    let part = low_key.doublings_to(key) / low_key.doublings_to(*high_key);
    let log = |cell: &Estimate| cell.bandwidth_bytes_per_s.max(1.0).ln();
    let between = log(high) - log(low);
    Some(Estimate {
        bandwidth_bytes_per_s: (log(low) + part * between).exp(),
        log_error: low.log_error.hypot(high.log_error).hypot(LINE_DEVIATION * between),
        slices: 0,
    })
}
