//! What a sweep measured.

use serde_json::Value;

use crate::Outcome;
use crate::bench::probe;

/// Seconds from which on a run shows how it goes on.
const SECONDS_LEAST: usize = 8;

/// A cell of a sweep.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Cell {
    pub(super) pattern: String,
    pub(super) operation: String,
    pub(super) block_bytes: u64,
    pub(super) group_blocks: u64,
    pub(super) queue_depth: u32,
    pub(super) bandwidth_bytes_per_s: f64,
    pub(super) median_ns: Option<u64>,
    /// Bandwidth of the last half of its seconds.
    pub(super) at_last_bytes_per_s: f64,
}

/// All of a sweep.
#[derive(Debug)]
pub(super) struct Cells(pub(super) Vec<Cell>);

impl Cells {
    pub(super) fn of(sweep: &Value) -> Outcome<Self> {
        let cells = sweep.get("cells").and_then(Value::as_array).ok_or("a sweep without cells")?;
        Ok(Self(cells.iter().map(Cell::of).collect::<Outcome<_>>()?))
    }

    /// The bandwidth of single blocks.
    pub(super) fn bandwidth(&self, pattern: &str, block_bytes: u64, queue_depth: u32) -> Option<f64> {
        self.grouped(pattern, block_bytes, 1, queue_depth)
    }

    pub(super) fn grouped(&self, pattern: &str, block: u64, group: u64, depth: u32) -> Option<f64> {
        let wanted = |cell: &&Cell| {
            cell.pattern == pattern
                && (cell.block_bytes, cell.group_blocks, cell.queue_depth) == (block, group, depth)
        };
        self.0.iter().find(wanted).map(|cell| cell.bandwidth_bytes_per_s)
    }

    /// By block size and depth, as the benchmark `probe` has them.
    pub(super) fn grid(&self, pattern: &str) -> probe::Cells {
        let of_it = self.0.iter().filter(|cell| cell.pattern == pattern && cell.group_blocks == 1);
        of_it.map(|cell| ((cell.block_bytes, cell.queue_depth), cell.bandwidth_bytes_per_s)).collect()
    }

    /// How a pattern goes on.
    pub(super) fn at_last(&self, pattern: &str) -> Option<f64> {
        let cell = self.0.iter().find(|cell| cell.pattern == pattern)?;
        Some(cell.at_last_bytes_per_s)
    }
}

impl Cell {
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

/// The mean of the last half, but for the last second, which a run rarely fills.
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
        let cell = |seconds: &[f64]| {
            let seconds: Vec<Value> =
                seconds.iter().map(|bytes| serde_json::json!({ "bytes": bytes })).collect();
            let cell = serde_json::json!({ "pattern": "random", "operation": "write", "block_bytes": 4096,
                "group_blocks": 1, "queue_depth": 1, "bandwidth_bytes_per_s": 7.0, "seconds": seconds });
            Cells::of(&serde_json::json!({ "cells": [cell] })).unwrap().at_last("random").unwrap()
        };
        assert!((cell(&[100.0, 100.0, 100.0, 100.0, 2.0, 2.0, 4.0, 4.0, 0.5]) - 3.0).abs() < 1e-9);
        assert!((cell(&[100.0, 2.0]) - 7.0).abs() < 1e-9, "a short run is one figure");
    }
}
