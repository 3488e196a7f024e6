//! Read side, by the definitions in docs/profile.md.

use std::collections::BTreeSet;

use serde_json::Value;

use super::cells::{Cell, Cells};
use super::drives::Drive;
use super::question::{Kind, Question};
use crate::Outcome;
use crate::bench::probe::{self, efficient_block, knee, plateau};

/// Fraction of a value that still counts as near it.
const NEAR: f64 = 0.9;
/// Grid of the probe.
const BLOCKS: &str = "2K,4K,8K,16K,32K,64K,128K,256K,512K,1M,2M,4M";
const DEPTHS: &str = "1,2,4,8,16,32,64,128,256";
/// Depths of the probe's sequential reads.
const SEQUENTIAL_DEPTHS: [u32; 3] = [1, 4, 32];
/// Relative saving in cost for which halving a block is worthwhile.
const WORTH: f64 = 0.1;

/// Groups and depths that a probe may measure.
const GROUPS: &str = "2,4,16";
const GROUP_DEPTHS: &str = "4,32";
/// Smallest block of the grids. Smaller ones are read only for the question of the smallest block.
const BLOCK_LEAST: u64 = 2048;

/// Sweeps every cell that a probe may measure.
pub(super) fn sweep(drive: &Drive, seed: u64) -> Outcome<Vec<Cell>> {
    let read = |patterns: &str, groups: &str, depths: &str| {
        let blocks = format!("--block-sizes={BLOCKS}");
        let [patterns, groups, depths] =
            [("patterns", patterns), ("group-sizes", groups), ("queue-depths", depths)]
                .map(|(option, list)| format!("--{option}={list}"));
        drive.read(seed, &[&blocks, &patterns, &groups, &depths])
    };
    let mut cells = read("random", "1", DEPTHS)?;
    cells.extend(read("sequential", "1", "1,4,32")?);
    cells.extend(read("random", GROUPS, GROUP_DEPTHS)?);
    Ok(cells)
}

pub(super) fn questions(cells: &Cells, derived: &Value) -> Vec<Question> {
    let mut questions = greatest(cells, derived);
    questions.extend(depths(cells, derived));
    questions.extend(equality(cells, derived));
    questions.extend(groups(cells, derived));
    questions.extend(flexible(cells, derived));
    questions
}

/// Random and sequential reads by block and depth.
fn grids(cells: &Cells) -> [probe::Cells; 2] {
    ["random", "sequential"].map(|pattern| cells.grid(pattern, BLOCK_LEAST))
}

fn best(grid: &probe::Cells) -> f64 {
    grid.keys().map(|(block, _)| plateau(grid, *block)).fold(0.0, f64::max)
}

fn greatest(cells: &Cells, derived: &Value) -> Vec<Question> {
    let [random_grid, sequential_grid] = grids(cells);
    let iops = random_grid
        .keys()
        .map(|(block, _)| plateau(&random_grid, *block) / *block as f64)
        .fold(0.0, f64::max);
    let smallest =
        random_grid.keys().next().and_then(|(block, _)| cells.find(("random", "read", *block, 1, 1)));
    let figure = |name, exhaustive, key| Question::new(name, Kind::Figure, exhaustive, derived.get(key));
    vec![
        figure("random bandwidth, bytes/s", Some(best(&random_grid)), "random_bandwidth_bytes_per_s_max"),
        figure(
            "sequential bandwidth, bytes/s",
            Some(best(&sequential_grid)),
            "sequential_bandwidth_bytes_per_s_max",
        ),
        figure("random reads a second", Some(iops), "random_read_iops_max"),
        figure(
            "latency of the smallest block, ns",
            smallest.and_then(|cell| Some(cell.median_ns? as f64)),
            "random_read_latency_ns",
        ),
        Question::new(
            "efficient block, bytes",
            Kind::Step,
            Some(efficient_block(&random_grid) as f64),
            derived.get("efficient_block_bytes"),
        ),
    ]
}

fn rows<'a>(derived: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    derived.get(key).and_then(Value::as_array).into_iter().flatten()
}

fn whole(value: &Value, key: &str) -> u64 {
    value.get(key).and_then(Value::as_u64).unwrap_or(0)
}

fn depth_of(value: &Value, key: &str) -> u32 {
    u32::try_from(whole(value, key)).unwrap_or(0)
}

/// Knee of each block size, and the efficient block at each depth.
fn depths(cells: &Cells, derived: &Value) -> Vec<Question> {
    let [grid, _] = grids(cells);
    let blocks: BTreeSet<u64> = grid.keys().map(|(block, _)| *block).collect();
    let knees = blocks.iter().map(|block| {
        let row = rows(derived, "saturating_queue_depth").find(|row| whole(row, "block_bytes") == *block);
        let name = format!("saturating depth, {} KiB", block >> 10);
        let depth = row.and_then(|row| row.get("queue_depth"));
        Question::new(name, Kind::Step, Some(knee(&grid, *block) as f64), depth)
    });
    let best = best(&grid);
    let all_depths: BTreeSet<u32> = grid.keys().map(|(_, depth)| *depth).collect();
    let efficient = all_depths.into_iter().filter_map(|depth| {
        let near =
            |block: &&u64| grid.get(&(**block, depth)).is_some_and(|bandwidth| *bandwidth >= NEAR * best);
        let row = rows(derived, "efficient_block_by_depth").find(|row| depth_of(row, "queue_depth") == depth);
        let exhaustive = blocks.iter().find(near).map(|block| *block as f64);
        let probe = row.and_then(|row| row.get("block_bytes"));
        (exhaustive.is_some() || probe.is_some()).then(|| {
            Question::new(format!("efficient block at depth {depth}"), Kind::Step, exhaustive, probe)
        })
    });
    knees.chain(efficient).collect()
}

/// Smallest depth for each block from which random reads are near sequential ones and near the
/// maximum.
fn equality(cells: &Cells, derived: &Value) -> Vec<Question> {
    let [random_grid, sequential_grid] = grids(cells);
    let full = best(&random_grid).max(best(&sequential_grid));
    let holds = |block: u64, depth: u32| {
        let pair = random_grid.get(&(block, depth)).zip(sequential_grid.get(&(block, depth)));
        pair.is_some_and(|(random, sequential)| *random >= NEAR * full && *random >= NEAR * sequential)
    };
    let blocks: BTreeSet<u64> = random_grid.keys().map(|(block, _)| *block).collect();
    let question = |block: u64| {
        let possible =
            SEQUENTIAL_DEPTHS.into_iter().filter(|depth| random_grid.contains_key(&(block, *depth)));
        let possible: Vec<u32> = possible.collect();
        let least = possible.iter().rev().take_while(|depth| holds(block, **depth)).last();
        let is_it = |row: &&Value| whole(row, "block_bytes") == block && whole(row, "group_blocks") == 1;
        let probe =
            rows(derived, "random_equals_sequential").find(is_it).and_then(|row| row.get("queue_depth_min"));
        let exhaustive = least.map(|depth| f64::from(*depth));
        (exhaustive.is_some() || probe.is_some()).then(|| {
            let name = format!("random equals sequential, {} KiB, from depth", block >> 10);
            Question::new(name, Kind::Step, exhaustive, probe)
        })
    };
    blocks.into_iter().filter_map(question).collect()
}

/// All groups that the probe measured.
fn groups(cells: &Cells, derived: &Value) -> Vec<Question> {
    let question = |row: &Value| {
        let (block, group, depth) =
            (whole(row, "block_bytes"), whole(row, "group_blocks"), depth_of(row, "queue_depth"));
        let grouped = cells.random_read(block, group, depth).zip(cells.random_read(block, 1, depth));
        let name = format!("groups of {group}, {} KiB, depth {depth}", block >> 10);
        Question::new(name, Kind::Figure, grouped.map(|(group, one)| group / one), row.get("ratio"))
    };
    rows(derived, "group_penalty").map(question).collect()
}

fn flexible(cells: &Cells, derived: &Value) -> Vec<Question> {
    let [grid, _] = grids(cells);
    let group = efficient_block(&grid);
    let depth = u32::try_from(knee(&grid, group)).unwrap_or(1);
    let cost = |block: u64| grid.get(&(block, depth)).map(|bandwidth| block as f64 / bandwidth);
    let mut block = group;
    while let Some((smaller, larger)) = cost(block / 2).zip(cost(block)) {
        if smaller > (1.0 - WORTH) * larger {
            break;
        }
        block /= 2;
    }
    let break_even = cost(group).zip(cost(block)).map(|(group, block)| group / block);
    let of = |name, kind, exhaustive, key: &str| {
        Question::new(name, kind, exhaustive, derived.pointer(&format!("/flexible_io/{key}")))
    };
    vec![
        of("flexible I/O: block, bytes", Kind::Step, Some(block as f64), "block_bytes"),
        of(
            "flexible I/O: blocks in a group",
            Kind::Step,
            Some((group / block.max(1)) as f64),
            "group_blocks",
        ),
        of("flexible I/O: break-even, blocks", Kind::Figure, break_even, "break_even_blocks"),
    ]
}
