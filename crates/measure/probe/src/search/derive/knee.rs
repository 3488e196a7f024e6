use nandle_profile::DepthForBlock;

use super::NEAR;
use crate::search::{Surface, Surfaces};

/// Smallest depth at which random reads of a block size are within 10 % of their plateau.
pub fn knee(surface: &Surface, block_bytes: u64) -> Option<u32> {
    let plateau = surface.plateau(block_bytes)?;
    let by_depth = surface.random_by_depth(block_bytes);
    by_depth.into_iter().find(|(_, bandwidth)| *bandwidth >= NEAR * plateau).map(|(depth, _)| depth)
}

/// Smallest depth that saturates a block size (C2, C5), with the interval of the knee. Its upper
/// end is certain to be within 10 % of the plateau. `None` if the block size wasn't measured.
pub fn depth_for_block(surfaces: &Surfaces, block_bytes: u64) -> Option<DepthForBlock> {
    let queue_depth = surfaces.interval(|surface| knee(surface, block_bytes))?;
    let plateau_bytes_per_s = surfaces.interval(|surface| surface.plateau(block_bytes))?;
    Some(DepthForBlock {
        block_bytes,
        queue_depth,
        plateau_bytes_per_s,
        plateau_reached: is_flat(&surfaces.best, block_bytes),
    })
}

/// Returns true if bandwidth stops growing before the greatest depth.
fn is_flat(surface: &Surface, block_bytes: u64) -> bool {
    match surface.random_by_depth(block_bytes).as_slice() {
        [.., (_, before), (_, last)] => NEAR * last <= *before,
        _ => false,
    }
}
