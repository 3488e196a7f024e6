use nandle_profile::{EqualRegion, Interval, is_near_full};

use super::NEAR;
use crate::search::{CellKey, Order, Surface, Surfaces};

/// Regions in which random reads are as fast as sequential ones of the same block size and depth,
/// with both near full bandwidth (C11). For each block and group size, the smallest depth from
/// which this holds at every measured depth.
pub fn random_equals_sequential(surfaces: &Surfaces) -> Vec<EqualRegion> {
    let best = &surfaces.best;
    let mut pairs: Vec<(u64, u64)> = best
        .cells()
        .filter(|(key, _)| key.order == Order::Random)
        .map(|(key, _)| (key.block_bytes, key.group_blocks))
        .collect();
    pairs.dedup();
    pairs.into_iter().filter_map(|(block, group)| region(surfaces, block, group)).collect()
}

fn region(surfaces: &Surfaces, block_bytes: u64, group_blocks: u64) -> Option<EqualRegion> {
    let holds = |depth: &u32| is_equal(&surfaces.best, block_bytes, group_blocks, *depth);
    let depths = comparable_depths(&surfaces.best, block_bytes, group_blocks);
    let queue_depth_min = depths.iter().copied().rev().take_while(holds).last()?;
    let ratio: Interval<f64> =
        surfaces.interval(|surface| ratio(surface, block_bytes, group_blocks, queue_depth_min))?;
    Some(EqualRegion { block_bytes, group_blocks, queue_depth_min, ratio })
}

/// Depths at which both were measured, ascending.
fn comparable_depths(surface: &Surface, block_bytes: u64, group_blocks: u64) -> Vec<u32> {
    let of_block = |key: &CellKey| {
        key.order == Order::Random && key.block_bytes == block_bytes && key.group_blocks == group_blocks
    };
    let depths = surface.cells().filter(|(key, _)| of_block(key)).map(|(key, _)| key.queue_depth);
    depths.filter(|depth| surface.bandwidth(CellKey::sequential(block_bytes, *depth)).is_some()).collect()
}

fn ratio(surface: &Surface, block_bytes: u64, group_blocks: u64, depth: u32) -> Option<f64> {
    let random = surface.bandwidth(CellKey::grouped(block_bytes, group_blocks, depth))?;
    let sequential = surface.bandwidth(CellKey::sequential(block_bytes, depth))?;
    Some(random / sequential)
}

fn is_equal(surface: &Surface, block_bytes: u64, group_blocks: u64, depth: u32) -> bool {
    let full = surface.full_random().into_iter().chain(surface.full_sequential()).fold(0.0, f64::max);
    let near_full = surface
        .bandwidth(CellKey::grouped(block_bytes, group_blocks, depth))
        .is_some_and(|random| is_near_full(random, full));
    near_full && ratio(surface, block_bytes, group_blocks, depth).is_some_and(|ratio| ratio >= NEAR)
}
