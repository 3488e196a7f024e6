use nandle_profile::{FlexibleIo, RequestCost};

use super::efficient::efficient_block;
use super::knee::knee;
use crate::search::{CellKey, Grid, Surface, Surfaces};

/// Share of the cost that halving a block must save to be worth the bookkeeping.
const WORTH: f64 = 0.1;

/// Flexible I/O unit (DIAT §1.2). The group is the smallest request near full bandwidth. Its blocks
/// are the smallest for which reading a single one is still notably cheaper. Both are compared at
/// the depth that saturates the device with whole groups, which is what a reader of groups keeps
/// outstanding. At greater depths a drive's processor makes all small requests equally expensive.
/// `None` if too little was measured.
pub fn flexible_io(surfaces: &Surfaces, grid: &Grid) -> Option<FlexibleIo> {
    let block_of = |surface: &Surface| smallest_worth_while(surface, grid);
    let group_of = |surface: &Surface| Some(efficient_block(surface)? / block_of(surface)?);
    let break_even = |surface: &Surface| {
        let group = efficient_block(surface)?;
        let depth = knee(surface, group)?;
        Some(cost_at_depth_ns(surface, group, depth)? / cost_at_depth_ns(surface, block_of(surface)?, depth)?)
    };
    let cost = |block: &u64| {
        let cost_ns = surfaces.interval(|surface| cost_ns(surface, *block))?;
        Some(RequestCost { block_bytes: *block, cost_ns })
    };
    Some(FlexibleIo {
        block_bytes: surfaces.interval(block_of)?,
        group_blocks: surfaces.interval(group_of)?,
        break_even_blocks: surfaces.interval(break_even)?,
        request_costs: grid.block_sizes.iter().filter_map(cost).collect(),
    })
}

/// Device time per request at the saturating depth.
fn cost_ns(surface: &Surface, block_bytes: u64) -> Option<f64> {
    Some(block_bytes as f64 / surface.plateau(block_bytes)? * 1e9)
}

/// Device time per request with `depth` requests outstanding.
fn cost_at_depth_ns(surface: &Surface, block_bytes: u64, depth: u32) -> Option<f64> {
    Some(block_bytes as f64 / surface.bandwidth(CellKey::random(block_bytes, depth))? * 1e9)
}

/// Halves the efficient block as long as each step saves enough.
fn smallest_worth_while(surface: &Surface, grid: &Grid) -> Option<u64> {
    let mut block = efficient_block(surface)?;
    let depth = knee(surface, block)?;
    for smaller in grid.block_sizes.iter().rev().copied().filter(|size| *size < block).collect::<Vec<_>>() {
        let cost_ns = |block_bytes| cost_at_depth_ns(surface, block_bytes, depth);
        let (Some(now), Some(then)) = (cost_ns(block), cost_ns(smaller)) else { break };
        if then > (1.0 - WORTH) * now {
            break;
        }
        block = smaller;
    }
    Some(block)
}
