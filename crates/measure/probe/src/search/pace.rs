//! Strength of the drift correction.
//!
//! If a device drifts, dividing by the reference cell's pace removes the drift from every cell. If
//! it only fluctuates (other work on the machine, a noisy neighbour), the reference's fluctuations
//! are independent of other cells', and dividing by them adds noise. Cells with several slices show
//! the difference: the right exponent of the pace minimises the scatter of repeated slices.

use std::collections::BTreeMap;

use super::CellKey;
use super::estimate::{Slice, relative_variance};

/// Candidate exponents, from no correction to full correction.
const EXPONENTS: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];
/// Smallest number of repeated slices that allows a correction.
const REPEATS_MIN: f64 = 10.0;

/// Applies the best exponent to each slice's pace. The reference's own slices are ignored in
/// choosing it.
pub(super) fn correct_pace(
    mut cells: BTreeMap<CellKey, Vec<Slice>>,
    reference: CellKey,
) -> BTreeMap<CellKey, Vec<Slice>> {
    let exponent = best_exponent(&cells, reference);
    for slice in cells.values_mut().flatten() {
        slice.pace = slice.pace.powf(exponent);
    }
    cells
}

fn best_exponent(cells: &BTreeMap<CellKey, Vec<Slice>>, reference: CellKey) -> f64 {
    let others = || cells.iter().filter(|(key, _)| **key != reference).map(|(_, slices)| slices);
    let repeats: f64 = others().map(|slices| slices.len().saturating_sub(1) as f64).sum();
    if repeats < REPEATS_MIN {
        return 0.0;
    }
    let scatter = |exponent: f64| -> f64 {
        let corrected = |slice: &Slice| Slice { pace: slice.pace.powf(exponent), ..*slice };
        let of_cell = |slices: &Vec<Slice>| {
            let corrected: Vec<Slice> = slices.iter().map(corrected).collect();
            Some(relative_variance(&corrected)? * (slices.len() as f64 - 1.0))
        };
        others().filter_map(of_cell).sum()
    };
    EXPONENTS
        .into_iter()
        .map(|exponent| (exponent, scatter(exponent)))
        .min_by(|a, b| a.1.total_cmp(&b.1))
        .map_or(0.0, |best| best.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const REFERENCE: CellKey =
        CellKey { order: crate::search::Order::Random, block_bytes: 32_768, group_blocks: 1, queue_depth: 8 };

    /// Twenty cells of three slices each; `follows` maps the pace to the bandwidth factor of a
    /// slice.
    fn cells(follows: impl Fn(f64) -> f64) -> BTreeMap<CellKey, Vec<Slice>> {
        let slice = |cell: u32, number: u32| {
            let pace = [0.5, 1.0, 2.0][((cell + number) % 3) as usize];
            Slice { bandwidth_bytes_per_s: 1e8 * f64::from(cell) * follows(pace), elapsed_ns: 1e8, pace }
        };
        (1..=20)
            .map(|cell| (CellKey::random(4096, cell), (0..3).map(|number| slice(cell, number)).collect()))
            .collect()
    }

    #[test]
    fn a_drift_that_all_cells_share_is_followed() {
        assert!((best_exponent(&cells(|pace| pace), REFERENCE) - 1.0).abs() < 1e-9);
        assert!((best_exponent(&cells(f64::sqrt), REFERENCE) - 0.5).abs() < 1e-9);
    }

    #[test]
    fn fluctuations_of_the_reference_alone_are_not_followed() {
        assert!(best_exponent(&cells(|_| 1.0), REFERENCE).abs() < 1e-9);
    }

    #[test]
    fn without_repeats_nothing_is_corrected() {
        let once = cells(|pace| pace).into_iter().map(|(key, slices)| (key, slices[..1].to_vec())).collect();
        assert!(best_exponent(&once, REFERENCE).abs() < 1e-9);
    }
}
