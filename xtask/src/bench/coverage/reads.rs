//! Cells and plateaus of random reads.

use std::collections::BTreeMap;

use serde_json::Value;

use super::drives::RandomDrive;
use super::tally::{Bounds, Tally, interval};
use crate::Outcome;
use crate::bench::agreement::Cell;
use crate::bench::probe::{self, plateau};

/// Grid of the probe, and run time of each cell.
const BLOCKS: &str = "2K,4K,8K,16K,32K,64K,128K,256K,512K,1M,2M,4M";
const DEPTHS: &str = "1,2,4,8,16,32,64,128,256";
const TIME: &str = "4s";

/// Probes a drive with each seed, and counts the covering intervals.
pub(super) fn count(drive: &RandomDrive, seeds: u64, tally: &mut Tally) -> Outcome {
    let truth = truth(drive)?;
    for seed in 1..=seeds {
        let profile = drive.probe(seed, &["--budget=60s", "--read-only"])?;
        for (place, bounds) in cells(&profile) {
            let [one, other] = truth.each_ref().map(|run| run.get(&place).copied());
            if let Some((one, other)) = one.zip(other) {
                tally.count("cells", seed, bounds, between([one, other]), &format!("{place:?}"));
            }
        }
        for row in rows(&profile, "/derived/saturating_queue_depth") {
            let block = whole(row, "block_bytes");
            // Otherwise the profile reports a lower bound.
            if row["plateau_reached"] == true
                && let Some(bounds) = interval(&row["plateau_bytes_per_s"])
            {
                let truth = between(truth.each_ref().map(|run| plateau(run, block)));
                tally.count("plateaus", seed, bounds, truth, &block.to_string());
            }
        }
    }
    Ok(())
}

/// Two long runs with different seeds. Values between them count as true.
fn truth(drive: &RandomDrive) -> Outcome<[probe::Cells; 2]> {
    let [blocks, depths, time] = [("block-sizes", BLOCKS), ("queue-depths", DEPTHS), ("time-per-run", TIME)]
        .map(|(option, list)| format!("--{option}={list}"));
    let run = |seed: u64| -> Outcome<probe::Cells> {
        let cells = drive.sweep(seed, &["--patterns=random", &blocks, &depths, &time])?;
        let bandwidth = |cell: &Cell| ((cell.block_bytes, cell.queue_depth), cell.bandwidth_bytes_per_s);
        Ok(cells.iter().map(bandwidth).collect())
    };
    Ok([run(1001)?, run(1002)?])
}

fn between([one, other]: [f64; 2]) -> Bounds {
    Bounds { low: one.min(other), high: one.max(other) }
}

/// Random reads of single blocks, measured and fitted.
fn cells(profile: &Value) -> BTreeMap<(u64, u32), Bounds> {
    let is_random = |cell: &&Value| cell["pattern"] == "random" && cell["group_blocks"] == 1;
    let measured = rows(profile, "/cells").filter(is_random);
    let measured =
        measured.filter_map(|cell| Some((place(cell), interval(&cell["steady_bandwidth_bytes_per_s"])?)));
    let fitted = rows(profile, "/fitted_cells")
        .filter_map(|cell| Some((place(cell), interval(&cell["bandwidth_bytes_per_s"])?)));
    measured.chain(fitted).collect()
}

fn rows<'a>(value: &'a Value, path: &str) -> impl Iterator<Item = &'a Value> {
    value.pointer(path).and_then(Value::as_array).into_iter().flatten()
}

fn place(cell: &Value) -> (u64, u32) {
    (whole(cell, "block_bytes"), u32::try_from(whole(cell, "queue_depth")).unwrap_or(0))
}

fn whole(value: &Value, key: &str) -> u64 {
    value[key].as_u64().unwrap_or(0)
}
