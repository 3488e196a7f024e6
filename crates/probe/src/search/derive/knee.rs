use nandle_profile::{DepthForBlock, Interval};

use super::NEAR;
use crate::search::{Surface, Surfaces};

/// A draw must be this likely to stand for the lower bound of a 95 % interval.
const LOWER_BOUND: f64 = 0.975;

/// The least depth at which random reading of a block size is within 10 % of its best.
pub fn knee(surface: &Surface, block_bytes: u64) -> Option<u32> {
    let plateau = plateau(surface, block_bytes)?;
    surface
        .random_by_depth(block_bytes)
        .find(|(_, bandwidth)| *bandwidth >= NEAR * plateau)
        .map(|(depth, _)| depth)
}

/// The best bandwidth of random reading of a block size.
pub(super) fn plateau(surface: &Surface, block_bytes: u64) -> Option<f64> {
    surface.random_by_depth(block_bytes).map(|(_, bandwidth)| bandwidth).reduce(f64::max)
}

/// The least depth that saturates a block size (C2, C5): the least whose lower bound is within 10 % of the plateau,
/// with the interval in which the knee lies. `None` when the block size wasn't measured.
pub fn depth_for_block(surfaces: &Surfaces, block_bytes: u64) -> Option<DepthForBlock> {
    let drawn = surfaces.interval(|surface| knee(surface, block_bytes))?;
    let sure = surfaces
        .best
        .random_by_depth(block_bytes)
        .find(|(depth, _)| surfaces.share(|draw| reaches(draw, block_bytes, *depth)) >= LOWER_BOUND);
    let value = sure.map_or(drawn.high, |(depth, _)| depth);
    let queue_depth = Interval { value, low: drawn.low.min(value), high: drawn.high.max(value) };
    let plateau_bytes_per_s = surfaces.interval(|surface| plateau(surface, block_bytes))?;
    Some(DepthForBlock {
        block_bytes,
        queue_depth,
        plateau_bytes_per_s,
        plateau_reached: is_flat(&surfaces.best, block_bytes),
    })
}

fn reaches(surface: &Surface, block_bytes: u64, depth: u32) -> bool {
    let plateau = plateau(surface, block_bytes).unwrap_or(f64::INFINITY);
    surface.random_by_depth(block_bytes).any(|(at, bandwidth)| at == depth && bandwidth >= NEAR * plateau)
}

/// Whether bandwidth has stopped growing before the greatest depth.
fn is_flat(surface: &Surface, block_bytes: u64) -> bool {
    let depths: Vec<_> = surface.random_by_depth(block_bytes).collect();
    match depths.as_slice() {
        [.., (_, before), (_, last)] => NEAR * last <= *before,
        _ => false,
    }
}
