//! Sweeps and the probe, each run with the command that a user would type.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::Outcome;
use crate::bench::io::{json, nandle_command, nandle_program};

/// Measurements of each cell per sweep, in a new order each time.
pub(super) const PASSES: u32 = 4;
/// Length of each. Including the program's starts, a sweep takes about as long as the probe.
pub(super) const MILLISECONDS_PER_PASS: u32 = 125;

/// Block size and queue depth.
pub(crate) type Place = (u64, u32);
/// Bandwidth of random reading by block size and queue depth.
pub(crate) type Cells = BTreeMap<Place, f64>;

/// A probe's bandwidth of a cell.
#[derive(Debug, Clone, Copy)]
pub(super) struct Believed {
    pub(super) bandwidth_bytes_per_s: f64,
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) measured: bool,
}

/// Grid of the probe, up to 256 MiB in flight.
fn places() -> Vec<Place> {
    let blocks = (11..=22).map(|power| 1_u64 << power);
    let of_block = |block: u64| (0..=8).map(move |power| (block, 1_u32 << power));
    blocks.flat_map(of_block).filter(|(block, depth)| block * u64::from(*depth) <= 256 << 20).collect()
}

/// Sweeps the grid in several passes, each in a random order, so that drift affects all cells
/// equally. Returns mean bandwidths.
pub(super) fn sweep(file: &Path, number: u32) -> Outcome<Cells> {
    let mut sums = Cells::new();
    for pass in 0..PASSES {
        for place in shuffled(places(), (number, pass)) {
            *sums.entry(place).or_insert(0.0) += visit(file, place, number * PASSES + pass)?;
        }
    }
    Ok(sums.into_iter().map(|(place, sum)| (place, sum / f64::from(PASSES))).collect())
}

fn shuffled(mut places: Vec<Place>, seed: (u32, u32)) -> Vec<Place> {
    let hasher = BuildHasherDefault::<DefaultHasher>::default();
    places.sort_by_cached_key(|place| hasher.hash_one((seed, place)));
    places
}

fn visit(file: &Path, (block_bytes, queue_depth): Place, seed: u32) -> Outcome<f64> {
    let answer = json(nandle_command(file).args([
        &format!("--block-sizes={block_bytes}"),
        &format!("--queue-depths={queue_depth}"),
        &format!("--time-per-run={MILLISECONDS_PER_PASS}ms"),
        &format!("--seed={seed}"),
    ]))?;
    number(answer.pointer("/cells/0").ok_or("the sweep has no cell")?, "bandwidth_bytes_per_s")
}

/// Profile of a one-minute probe.
pub(super) fn probe(file: &Path, directory: &Path) -> Outcome<Value> {
    let [profile, report] = ["json", "html"].map(|kind| directory.join(format!("bench-probe.{kind}")));
    let mut command = Command::new(nandle_program());
    command.args(["probe", "--json", "--no-progress", "--io=io_uring", "--budget=60s"]).arg(file);
    command.arg("--profile").arg(&profile).arg("--report").arg(&report);
    let answer = json(&mut command);
    for made in [profile, report] {
        let _ = std::fs::remove_file(made);
    }
    answer
}

/// Random reads of single blocks in a profile.
pub(super) fn believed(profile: &Value) -> Outcome<BTreeMap<Place, Believed>> {
    let list = |key: &str| {
        profile.get(key).and_then(Value::as_array).ok_or_else(|| format!("the probe has no {key}"))
    };
    let single = |cell: &&Value| {
        cell.get("pattern") == Some(&"random".into()) && cell.get("group_blocks") == Some(&1.into())
    };
    let measured = list("cells")?.iter().filter(single).map(|cell| (cell, "steady_bandwidth_bytes_per_s"));
    let fitted = list("fitted_cells")?.iter().map(|cell| (cell, "bandwidth_bytes_per_s"));
    let believed = |(cell, key): (&Value, &str)| {
        let interval = cell.get(key).ok_or_else(|| format!("a cell without {key}"))?;
        let believed = Believed {
            bandwidth_bytes_per_s: number(interval, "value")?,
            low: number(interval, "low")?,
            high: number(interval, "high")?,
            measured: cell.get("slices").is_some(),
        };
        Ok((place(cell)?, believed))
    };
    measured.chain(fitted).map(believed).collect()
}

fn place(cell: &Value) -> Outcome<Place> {
    let whole =
        |key: &str| cell.get(key).and_then(Value::as_u64).ok_or_else(|| format!("a cell without {key}"));
    Ok((whole("block_bytes")?, u32::try_from(whole("queue_depth")?)?))
}

fn number(value: &Value, key: &str) -> Outcome<f64> {
    value.get(key).and_then(Value::as_f64).ok_or_else(|| format!("no {key}").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pass_visits_every_cell_in_an_order_of_its_own() {
        let (one, other) = (shuffled(places(), (1, 0)), shuffled(places(), (1, 1)));
        assert!(one != other && one != places());
        let sorted = |mut places: Vec<Place>| {
            places.sort_unstable();
            places
        };
        assert_eq!(sorted(one), places());
        assert_eq!(sorted(other), places());
    }

    #[test]
    fn measured_and_fitted_cells_are_told_apart() {
        let interval = serde_json::json!({ "value": 2.0, "low": 1.0, "high": 3.0 });
        let cell = |pattern: &str, group: u32| {
            serde_json::json!({ "pattern": pattern, "group_blocks": group, "block_bytes": 4096, "queue_depth": 1,
                "slices": 3, "steady_bandwidth_bytes_per_s": interval })
        };
        let profile = serde_json::json!({
            "cells": [cell("random", 1), cell("random", 4), cell("sequential", 1)],
            "fitted_cells": [{ "block_bytes": 4096, "queue_depth": 2, "bandwidth_bytes_per_s": interval }],
        });
        let believed = believed(&profile).unwrap();
        assert_eq!(believed.len(), 2);
        assert!(believed[&(4096, 1)].measured && !believed[&(4096, 2)].measured);
    }
}
