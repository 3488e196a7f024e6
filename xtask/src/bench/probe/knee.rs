//! Derived parameters of a sweep, by the definitions in docs/profile.md. Implemented independently
//! of the probe, to reveal errors in it.

use super::runs::Cells;

/// Fraction of a value that still counts as near it.
const NEAR: f64 = 0.9;

/// Smallest depth within 10 % of a block size's plateau.
pub(crate) fn knee(cells: &Cells, block: u64) -> u64 {
    let row = non_decreasing(cells, block);
    let depths = cells.range((block, 0)..=(block, u32::MAX)).map(|((_, depth), _)| *depth);
    let near = depths.zip(&row).find(|(_, bandwidth)| **bandwidth >= NEAR * plateau(cells, block));
    near.map_or(0, |(depth, _)| depth.into())
}

/// Smallest block within 10 % of the best.
pub(crate) fn efficient_block(cells: &Cells) -> u64 {
    let plateau = |place: &(u64, u32)| plateau(cells, place.0);
    let best = cells.keys().map(plateau).fold(0.0, f64::max);
    cells.keys().find(|place| plateau(place) >= NEAR * best).map_or(0, |(block, _)| *block)
}

/// Best bandwidth of a block size.
pub(crate) fn plateau(cells: &Cells, block: u64) -> f64 {
    non_decreasing(cells, block).last().copied().unwrap_or(0.0)
}

/// Bandwidth over depth by isotonic regression (max-min formula): at depth `i` the maximum, over
/// all starts up to `i`, of the minimum mean from that start to an end at `i` or later.
fn non_decreasing(cells: &Cells, block: u64) -> Vec<f64> {
    let row: Vec<f64> = cells.range((block, 0)..=(block, u32::MAX)).map(|(_, x)| *x).collect();
    let mean = |start: usize, end: usize| {
        let stretch = row.iter().skip(start).take(end - start + 1);
        stretch.sum::<f64>() / (end - start + 1) as f64
    };
    let least_from =
        |start: usize, at: usize| (at..row.len()).map(|end| mean(start, end)).fold(f64::MAX, f64::min);
    (0..row.len()).map(|at| (0..=at).map(|start| least_from(start, at)).fold(0.0, f64::max)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sweep_has_knees_and_an_efficient_block() {
        let cells: Cells =
            [((4096, 1), 10.0), ((4096, 2), 19.0), ((4096, 4), 20.0), ((8192, 1), 30.0), ((8192, 2), 31.0)]
                .into();
        assert_eq!((knee(&cells, 4096), knee(&cells, 8192), efficient_block(&cells)), (2, 1, 8192));
    }

    #[test]
    fn a_single_peak_is_no_plateau() {
        let cells: Cells =
            [((4096, 1), 10.0), ((4096, 2), 22.0), ((4096, 4), 18.0), ((4096, 8), 20.0)].into();
        assert_eq!(non_decreasing(&cells, 4096), [10.0, 20.0, 20.0, 20.0]);
        assert_eq!(knee(&cells, 4096), 2);
    }
}
