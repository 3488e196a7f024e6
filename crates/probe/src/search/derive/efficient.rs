use nandle_profile::BlockAtDepth;

use super::NEAR;
use super::knee::plateau;
use crate::search::{CellKey, Grid, Order, Surface, Surfaces};

/// The smallest block of random reading that comes near full bandwidth at its best depth (C1).
pub fn efficient_block(surface: &Surface) -> Option<u64> {
    let full = full_random(surface)?;
    blocks(surface).find(|block| plateau(surface, *block).is_some_and(|best| best >= NEAR * full))
}

/// The smallest block that comes near full at each depth, for the depths at which some block does.
pub fn efficient_block_by_depth(surfaces: &Surfaces, grid: &Grid) -> Vec<BlockAtDepth> {
    let at_depth = |depth: u32| {
        let smallest = |surface: &Surface| {
            let full = full_random(surface)?;
            let near = |block: &u64| {
                surface.bandwidth(CellKey::random(*block, depth)).is_some_and(|x| x >= NEAR * full)
            };
            blocks(surface).find(near)
        };
        surfaces.interval(smallest).map(|block_bytes| BlockAtDepth { queue_depth: depth, block_bytes })
    };
    grid.queue_depths.iter().filter_map(|depth| at_depth(*depth)).collect()
}

/// The best bandwidth of random reading in single blocks.
pub(super) fn full_random(surface: &Surface) -> Option<f64> {
    surface.best(|key| key.order == Order::Random && key.group_blocks == 1)
}

/// Block sizes of random reading in single blocks, ascending.
fn blocks(surface: &Surface) -> impl Iterator<Item = u64> + '_ {
    let mut last = 0;
    let single = surface.cells().filter(|(key, _)| key.order == Order::Random && key.group_blocks == 1);
    single.map(|(key, _)| key.block_bytes).filter(move |block| std::mem::replace(&mut last, *block) != *block)
}
