//! Measurements of a sweep.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Outcome;
use crate::bench::probe;

/// Minimum length of a run, in seconds, that shows its steady state.
const SECONDS_LEAST: usize = 8;

/// Pattern, operation, block, group and depth.
type Place<'a> = (&'a str, &'a str, u64, u64, u32);
/// Recorded form: place, bandwidth, median latency, final bandwidth.
type Row = (String, String, u64, u64, u32, f64, Option<u64>, f64);

/// A cell of a sweep.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "Row", into = "Row")]
pub(in crate::bench) struct Cell {
    pub(in crate::bench) pattern: String,
    pub(in crate::bench) operation: String,
    pub(in crate::bench) block_bytes: u64,
    pub(in crate::bench) group_blocks: u64,
    pub(in crate::bench) queue_depth: u32,
    pub(in crate::bench) bandwidth_bytes_per_s: f64,
    pub(in crate::bench) median_ns: Option<u64>,
    /// Bandwidth of the second half of the run.
    pub(in crate::bench) at_last_bytes_per_s: f64,
}

/// All cells of an exhaustive run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Cells(pub(super) Vec<Cell>);

impl Cells {
    pub(super) fn find(&self, place: Place<'_>) -> Option<&Cell> {
        self.0.iter().find(|cell| cell.place() == place)
    }

    /// Bandwidth of random reads.
    pub(super) fn random_read(&self, block: u64, group: u64, depth: u32) -> Option<f64> {
        self.find(("random", "read", block, group, depth)).map(|cell| cell.bandwidth_bytes_per_s)
    }

    /// Reads of single blocks of at least `block_least` bytes, by block size and depth, in the
    /// format of the benchmark `probe`.
    pub(super) fn grid(&self, pattern: &str, block_least: u64) -> probe::Cells {
        let is_wanted = |cell: &&Cell| {
            (cell.pattern.as_str(), cell.operation.as_str(), cell.group_blocks) == (pattern, "read", 1)
                && cell.block_bytes >= block_least
        };
        let cells = self.0.iter().filter(is_wanted);
        cells.map(|cell| ((cell.block_bytes, cell.queue_depth), cell.bandwidth_bytes_per_s)).collect()
    }

    /// Final bandwidth of writes in a pattern.
    pub(super) fn at_last(&self, pattern: &str, block: u64, depth: u32) -> Option<f64> {
        self.find((pattern, "write", block, 1, depth)).map(|cell| cell.at_last_bytes_per_s)
    }
}

impl Cell {
    pub(in crate::bench) fn all_of(sweep: &Value) -> Outcome<Vec<Self>> {
        let cells = sweep.get("cells").and_then(Value::as_array).ok_or("a sweep without cells")?;
        cells.iter().map(Self::of).collect()
    }

    fn place(&self) -> Place<'_> {
        (&self.pattern, &self.operation, self.block_bytes, self.group_blocks, self.queue_depth)
    }

    fn of(cell: &Value) -> Outcome<Self> {
        let whole =
            |key: &str| cell.get(key).and_then(Value::as_u64).ok_or_else(|| format!("no {key} in a cell"));
        let words = |key: &str| cell.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let bandwidth_bytes_per_s =
            cell.get("bandwidth_bytes_per_s").and_then(Value::as_f64).ok_or("a cell without bandwidth")?;
        let bytes = |second: &Value| second.get("bytes").and_then(Value::as_f64);
        let seconds: Vec<f64> =
            cell.get("seconds").and_then(Value::as_array).into_iter().flatten().filter_map(bytes).collect();
        Ok(Self {
            pattern: words("pattern"),
            operation: words("operation"),
            block_bytes: whole("block_bytes")?,
            group_blocks: whole("group_blocks")?,
            queue_depth: u32::try_from(whole("queue_depth")?)?,
            bandwidth_bytes_per_s,
            median_ns: cell.pointer("/latency_ns/p50").and_then(Value::as_u64),
            at_last_bytes_per_s: at_last(&seconds).unwrap_or(bandwidth_bytes_per_s),
        })
    }
}

impl From<Row> for Cell {
    fn from(row: Row) -> Self {
        let (pattern, operation, block_bytes, group_blocks, queue_depth, bandwidth, median_ns, at_last) = row;
        Self {
            pattern,
            operation,
            block_bytes,
            group_blocks,
            queue_depth,
            bandwidth_bytes_per_s: bandwidth,
            median_ns,
            at_last_bytes_per_s: at_last,
        }
    }
}

impl From<Cell> for Row {
    /// Rounds bandwidths to whole bytes per second.
    fn from(cell: Cell) -> Self {
        let [bandwidth, at_last] = [cell.bandwidth_bytes_per_s, cell.at_last_bytes_per_s].map(f64::round);
        let Cell { pattern, operation, block_bytes, group_blocks, queue_depth, median_ns, .. } = cell;
        (pattern, operation, block_bytes, group_blocks, queue_depth, bandwidth, median_ns, at_last)
    }
}

/// Mean of the second half, without the last second, which is rarely complete.
fn at_last(seconds: &[f64]) -> Option<f64> {
    let (_, whole) = seconds.split_last()?;
    let half = whole.get(whole.len() / 2..).filter(|_| whole.len() >= SECONDS_LEAST)?;
    Some(half.iter().sum::<f64>() / half.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_counts_is_the_last_half_of_a_long_run() {
        let cells = |seconds: &[f64]| {
            let seconds: Vec<Value> =
                seconds.iter().map(|bytes| serde_json::json!({ "bytes": bytes })).collect();
            let cell = serde_json::json!({ "pattern": "random", "operation": "write", "block_bytes": 4096,
                "group_blocks": 1, "queue_depth": 1, "bandwidth_bytes_per_s": 7.0, "seconds": seconds });
            Cells(Cell::all_of(&serde_json::json!({ "cells": [cell] })).unwrap())
        };
        let at_last = |seconds: &[f64]| cells(seconds).at_last("random", 4096, 1).unwrap();
        assert!((at_last(&[100.0, 100.0, 100.0, 100.0, 2.0, 2.0, 4.0, 4.0, 0.5]) - 3.0).abs() < 1e-9);
        assert!((at_last(&[100.0, 2.0]) - 7.0).abs() < 1e-9, "a short run is one figure");
        let recorded = serde_json::to_string(&cells(&[])).unwrap();
        let again: Cells = serde_json::from_str(&recorded).unwrap();
        assert_eq!(again.0, cells(&[]).0, "{recorded}");
    }
}
