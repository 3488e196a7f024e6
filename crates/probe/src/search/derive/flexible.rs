use nandle_profile::{FlexibleIo, RequestCost};

use super::efficient::efficient_block;
use crate::search::{Grid, Surface, Surfaces};

/// Halving a block must save this share of its cost, or it isn't worth the bookkeeping.
const WORTH: f64 = 0.1;

/// The flexible I/O unit (DIAT §1.2): the group is the smallest request near full bandwidth; its blocks are as small
/// as still makes reading one of them notably cheaper. `None` when too little was measured.
pub fn flexible_io(surfaces: &Surfaces, grid: &Grid) -> Option<FlexibleIo> {
    let block_of = |surface: &Surface| smallest_worth_while(surface, grid);
    let group_of = |surface: &Surface| Some(efficient_block(surface)? / block_of(surface)?);
    let break_even = |surface: &Surface| {
        Some(cost_ns(surface, efficient_block(surface)?)? / cost_ns(surface, block_of(surface)?)?)
    };
    let cost =
        |block: &u64| Some(RequestCost { block_bytes: *block, cost_ns: cost_ns(&surfaces.best, *block)? });
    Some(FlexibleIo {
        block_bytes: surfaces.interval(block_of)?,
        group_blocks: surfaces.interval(group_of)?,
        break_even_blocks: surfaces.interval(break_even)?,
        request_costs: grid.block_sizes.iter().filter_map(cost).collect(),
    })
}

/// Device time of one request of a size when the queue is as deep as it takes.
fn cost_ns(surface: &Surface, block_bytes: u64) -> Option<f64> {
    Some(block_bytes as f64 / surface.plateau(block_bytes)? * 1e9)
}

/// Goes down from the efficient block as long as each halving saves enough.
fn smallest_worth_while(surface: &Surface, grid: &Grid) -> Option<u64> {
    let mut block = efficient_block(surface)?;
    for smaller in grid.block_sizes.iter().rev().copied().filter(|size| *size < block).collect::<Vec<_>>() {
        let (now, then) = (cost_ns(surface, block)?, cost_ns(surface, smaller)?);
        if then > (1.0 - WORTH) * now {
            break;
        }
        block = smaller;
    }
    Some(block)
}
