use nandle_profile::{BlockAtDepth, is_near_full};

use crate::search::{Grid, Surface, Surfaces};

/// Smallest block of random reads near full bandwidth at its best depth (C1).
pub fn efficient_block(surface: &Surface) -> Option<u64> {
    let full = surface.full_random()?;
    surface.random_blocks().find(|block| surface.plateau(*block).is_some_and(|best| is_near_full(best, full)))
}

/// Smallest block near full bandwidth at each depth, for depths at which one exists.
pub fn efficient_block_by_depth(surfaces: &Surfaces, grid: &Grid) -> Vec<BlockAtDepth> {
    let at_depth = |depth: u32| {
        let smallest = |surface: &Surface| {
            let full = surface.full_random()?;
            surface.random_blocks().find(|block| is_near(surface, *block, depth, full))
        };
        surfaces.interval(smallest).map(|block_bytes| BlockAtDepth { queue_depth: depth, block_bytes })
    };
    grid.queue_depths.iter().filter_map(|depth| at_depth(*depth)).collect()
}

fn is_near(surface: &Surface, block_bytes: u64, depth: u32, full: f64) -> bool {
    surface
        .random_by_depth(block_bytes)
        .iter()
        .any(|(at, bandwidth)| *at == depth && is_near_full(*bandwidth, full))
}
