//! Choice of the cells to measure next.

use std::collections::{BTreeMap, BTreeSet};

use super::derive::{NEAR, knee};
use super::estimate::Estimate;
use super::{CellKey, Grid, Order, Surface};

/// Queue depths of the skeleton.
const SKELETON_DEPTHS: [u32; 4] = [1, 8, 32, 128];
/// Queue depths of sequential reads.
const SEQUENTIAL_DEPTHS: [u32; 3] = [1, 4, 32];
/// Queue depths of grouped reads: a shallow queue, and the command queue of SATA drives (C8).
const GROUP_DEPTHS: [u32; 2] = [4, 32];
/// Group sizes.
const GROUPS: [u64; 3] = [2, 4, 16];

/// First look: each block size at a few depths. Shallow depths come first, since they show how long
/// deeper ones take.
pub(super) fn skeleton(grid: &Grid) -> Vec<Vec<CellKey>> {
    let mut by_depth: BTreeMap<u32, Vec<CellKey>> = BTreeMap::new();
    for &block in &grid.block_sizes {
        let deepest = grid.depths_of(block).next_back();
        let wanted = |depth: &u32| SKELETON_DEPTHS.contains(depth) || Some(*depth) == deepest;
        for depth in grid.depths_of(block).filter(wanted) {
            by_depth.entry(depth).or_default().push(CellKey::random(block, depth));
        }
    }
    by_depth.into_values().collect()
}

/// For each block size, the grid depth halfway between the two measured depths around its knee,
/// while there is one.
pub(super) fn bisection(grid: &Grid, measured: &Surface) -> Vec<CellKey> {
    grid.block_sizes.iter().filter_map(|block| between_knee(grid, measured, *block)).collect()
}

fn between_knee(grid: &Grid, measured: &Surface, block_bytes: u64) -> Option<CellKey> {
    let knee = knee(measured, block_bytes)?;
    let below = measured.random_depths(block_bytes).take_while(|depth| *depth < knee).last()?;
    let inside: Vec<u32> =
        grid.depths_of(block_bytes).filter(|depth| below < *depth && *depth < knee).collect();
    inside.get(inside.len() / 2).map(|depth| CellKey::random(block_bytes, *depth))
}

/// Sequential reads of every block size.
pub(super) fn sequential(grid: &Grid) -> Vec<CellKey> {
    let cells_of = |block: &u64| {
        let deepest = grid.depths_of(*block).next_back().unwrap_or(1);
        SEQUENTIAL_DEPTHS
            .into_iter()
            .filter(move |depth| *depth <= deepest)
            .map(|depth| CellKey::sequential(*block, depth))
            .collect::<Vec<_>>()
    };
    grid.block_sizes.iter().flat_map(cells_of).collect()
}

/// Grouped reads of the efficient block, of an eighth and of four times its size, each with its
/// reference cell of single blocks.
pub(super) fn groups(grid: &Grid, efficient_block_bytes: u64) -> Vec<CellKey> {
    let sizes = [efficient_block_bytes / 8, efficient_block_bytes, efficient_block_bytes.saturating_mul(4)];
    let (Some(smallest), Some(largest)) = (grid.block_sizes.first(), grid.block_sizes.last()) else {
        return Vec::new();
    };
    let blocks: BTreeSet<u64> = sizes.into_iter().map(|block| block.clamp(*smallest, *largest)).collect();
    let depths =
        |block| grid.depths_of(block).filter(|depth| GROUP_DEPTHS.contains(depth)).collect::<Vec<_>>();
    let cells = |block: u64, depth: u32| {
        std::iter::once(1).chain(GROUPS).map(move |group| CellKey::grouped(block, group, depth))
    };
    blocks
        .into_iter()
        .flat_map(|block| depths(block).into_iter().flat_map(move |depth| cells(block, depth)))
        .collect()
}

/// Slices that each measured cell should have at the end.
pub(super) const SLICES_WANTED: usize = 3;

/// Next round of at most `count` cells. Half are the least certain ones, measured or not; then
/// measured cells with too few slices; the rest belong to the least decided comparisons.
pub(super) fn next_round(known: &BTreeMap<CellKey, Estimate>, count: usize) -> Vec<CellKey> {
    let mut round: BTreeSet<CellKey> = BTreeSet::new();
    let mut add = |keys: &mut dyn Iterator<Item = CellKey>, up_to: usize| {
        while round.len() < up_to
            && let Some(key) = keys.next()
        {
            round.insert(key);
        }
    };
    let mut unsure: Vec<_> = known.iter().collect();
    unsure.sort_by(|(_, a), (_, b)| b.log_error.total_cmp(&a.log_error));
    add(&mut unsure.iter().map(|(key, _)| **key), count.div_ceil(2));
    let mut few: Vec<_> =
        known.iter().filter(|(_, estimate)| (1..SLICES_WANTED).contains(&estimate.slices)).collect();
    few.sort_by_key(|(_, estimate)| estimate.slices);
    add(&mut few.iter().map(|(key, _)| **key), (count * 3).div_ceil(4));
    let mut comparisons = comparisons(known);
    comparisons.sort_by(|a, b| a.decidedness.total_cmp(&b.decidedness));
    add(&mut comparisons.iter().flat_map(|comparison| [comparison.cell, comparison.against]), count);
    round.into_iter().collect()
}

/// Comparison of two cells' bandwidths.
struct Comparison {
    cell: CellKey,
    against: CellKey,
    /// Distance from the border in standard errors.
    decidedness: f64,
}

fn comparisons(known: &BTreeMap<CellKey, Estimate>) -> Vec<Comparison> {
    let surface = Surface::new(known.iter().map(|(key, cell)| (*key, cell.bandwidth_bytes_per_s)).collect());
    let questions = knees(&surface)
        .into_iter()
        .chain(efficiency(&surface))
        .chain(equalities(known))
        .chain(penalties(known));
    questions.filter_map(|(cell, against)| compare(known, cell, against)).collect()
}

fn compare(estimates: &BTreeMap<CellKey, Estimate>, cell: CellKey, against: CellKey) -> Option<Comparison> {
    if cell == against {
        return None;
    }
    let (a, b) = (estimates.get(&cell)?, estimates.get(&against)?);
    let error = a.log_error.hypot(b.log_error);
    let distance = (a.bandwidth_bytes_per_s / (NEAR * b.bandwidth_bytes_per_s)).max(1e-9).ln().abs();
    Some(Comparison { cell, against, decidedness: distance / error.max(1e-9) })
}

/// Depths next to each knee, compared with the best of the block size.
fn knees(measured: &Surface) -> Vec<(CellKey, CellKey)> {
    let blocks: BTreeSet<u64> = measured.cells().map(|(key, _)| key.block_bytes).collect();
    let of_block = |block: u64| {
        let best = measured.random_by_depth(block).into_iter().max_by(|a, b| a.1.total_cmp(&b.1));
        let knee = knee(measured, block);
        let near = measured.random_depths(block);
        let near = near.filter(move |depth| knee.is_some_and(|knee| (knee / 2..=knee * 2).contains(depth)));
        near.filter_map(move |depth| Some((CellKey::random(block, depth), CellKey::random(block, best?.0))))
            .collect::<Vec<_>>()
    };
    blocks.into_iter().flat_map(of_block).collect()
}

/// Best cell of each block size, compared with the best of all.
fn efficiency(measured: &Surface) -> Vec<(CellKey, CellKey)> {
    let random = |key: &CellKey| key.order == Order::Random && key.group_blocks == 1;
    let best_of = |block: Option<u64>| {
        let cells = measured
            .cells()
            .filter(move |(key, _)| random(key) && block.is_none_or(|block| key.block_bytes == block));
        cells.max_by(|a, b| a.1.total_cmp(&b.1)).map(|(key, _)| key)
    };
    let blocks: BTreeSet<u64> = measured.cells().map(|(key, _)| key.block_bytes).collect();
    blocks.into_iter().filter_map(|block| Some((best_of(Some(block))?, best_of(None)?))).collect()
}

/// Random cells, compared with sequential ones.
fn equalities(estimates: &BTreeMap<CellKey, Estimate>) -> Vec<(CellKey, CellKey)> {
    let random = estimates.keys().filter(|key| key.order == Order::Random);
    random.map(|key| (*key, CellKey::sequential(key.block_bytes, key.queue_depth))).collect()
}

/// Groups, compared with single blocks.
fn penalties(estimates: &BTreeMap<CellKey, Estimate>) -> Vec<(CellKey, CellKey)> {
    let grouped = estimates.keys().filter(|key| key.group_blocks > 1);
    grouped.map(|key| (*key, CellKey { group_blocks: 1, ..*key })).collect()
}
