use nandle_profile::{SplitObservation, SplitSize};
use nandle_units::format_bytes;

use super::NEAR;
use crate::search::{CellKey, Grid, Surfaces};

/// Probability from which a drop counts as observed.
const SURE: f64 = 0.975;

/// Size from which requests are split: as stated by the system, and as observed. The sign is a drop
/// of more than 10 % from one block size to the next at the same depth (C4).
pub fn split_size(surfaces: &Surfaces, grid: &Grid, stated_bytes: Option<u64>) -> Option<SplitSize> {
    let seen = first_drop(surfaces, grid);
    (stated_bytes.is_some() || seen.is_some()).then_some(SplitSize { stated_bytes, seen })
}

fn first_drop(surfaces: &Surfaces, grid: &Grid) -> Option<SplitObservation> {
    let pairs = grid.block_sizes.windows(2).filter_map(|pair| Some((*pair.first()?, *pair.get(1)?)));
    let cells =
        pairs.flat_map(|(small, large)| grid.depths_of(large).map(move |depth| (small, large, depth)));
    cells.into_iter().find_map(|(small, large, depth)| {
        let ratio = |surface: &crate::search::Surface| {
            Some(
                surface.bandwidth(CellKey::random(large, depth))?
                    / surface.bandwidth(CellKey::random(small, depth))?,
            )
        };
        let drop = surfaces.share(|draw| ratio(draw).is_some_and(|ratio| ratio < NEAR)) >= SURE;
        let ratio = surfaces.interval(ratio).filter(|_| drop)?;
        Some(SplitObservation {
            whole_bytes: small,
            ratio: Some(ratio),
            sign: format!(
                "at depth {depth}, random reads of {} give {:.0} % less bandwidth than reads of {}",
                format_bytes(large),
                (1.0 - ratio.value) * 100.0,
                format_bytes(small)
            ),
        })
    })
}
