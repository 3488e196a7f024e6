//! Holds a probe against two sweeps.

use serde::Serialize;
use serde_json::Value;

use super::runs::{Cells, number, place};
use crate::Outcome;

/// "Near" is within 10 %, as everywhere.
const NEAR: f64 = 0.9;

/// A derived parameter: what the sweeps say, and what the probe says.
#[derive(Debug, Serialize)]
pub(super) struct Question {
    pub(super) parameter: String,
    pub(super) sweeps: [u64; 2],
    pub(super) probe: u64,
    pub(super) probe_low: u64,
    pub(super) probe_high: u64,
    pub(super) agrees: bool,
}

/// A cell that the probe didn't measure.
#[derive(Debug, Serialize)]
pub(super) struct Fitted {
    pub(super) block_bytes: u64,
    pub(super) queue_depth: u32,
    pub(super) sweeps_bytes_per_s: f64,
    pub(super) probe_bytes_per_s: f64,
    pub(super) right: bool,
}

/// Median and 90th percentile of the relative difference of the same cell in both sweeps.
pub(super) fn noise(first: &Cells, second: &Cells) -> (f64, f64) {
    let difference = |(place, x): (&(u64, u32), &f64)| Some((x / second.get(place)? - 1.0).abs());
    let mut differences: Vec<f64> = first.iter().filter_map(difference).collect();
    differences.sort_by(f64::total_cmp);
    let at = |share: usize| differences.get(differences.len() * share / 100).copied().unwrap_or(0.0);
    (at(50), at(90))
}

/// The knee of each block size, and the efficient block.
pub(super) fn questions(first: &Cells, second: &Cells, probe: &Value) -> Outcome<Vec<Question>> {
    let knees = probe.pointer("/derived/saturating_queue_depth").and_then(Value::as_array);
    let mut questions = Vec::new();
    for row in knees.ok_or("the probe has no saturating depths")? {
        let block = row.get("block_bytes").and_then(Value::as_u64).ok_or("a knee without block_bytes")?;
        let interval = row.get("queue_depth").ok_or("a knee without queue_depth")?;
        let sweeps = [first, second].map(|cells| u64::from(knee(cells, block)));
        questions.push(question(format!("saturating depth, {} KiB", block >> 10), sweeps, interval)?);
    }
    let interval =
        probe.pointer("/derived/efficient_block_bytes").ok_or("the probe has no efficient block")?;
    questions.push(question(
        "efficient block, bytes".into(),
        [first, second].map(efficient_block),
        interval,
    )?);
    Ok(questions)
}

fn question(parameter: String, sweeps: [u64; 2], interval: &Value) -> Outcome<Question> {
    let bound =
        |key: &str| interval.get(key).and_then(Value::as_u64).ok_or_else(|| format!("{parameter}: no {key}"));
    let (probe, probe_low, probe_high) = (bound("value")?, bound("low")?, bound("high")?);
    // The grid's steps are doublings.
    let agrees = sweeps.iter().any(|sweep| (probe_low / 2..=probe_high * 2).contains(sweep));
    Ok(Question { parameter, sweeps, probe, probe_low, probe_high, agrees })
}

/// The least depth within 10 % of a block size's best.
fn knee(cells: &Cells, block: u64) -> u32 {
    let best = best_of(cells, block);
    let near = cells.range((block, 0)..=(block, u32::MAX)).find(|(_, x)| **x >= NEAR * best);
    near.map_or(0, |((_, depth), _)| *depth)
}

/// The smallest block within 10 % of the best of all.
fn efficient_block(cells: &Cells) -> u64 {
    let best = cells.values().copied().fold(0.0, f64::max);
    let near = cells.keys().find(|(block, _)| best_of(cells, *block) >= NEAR * best);
    near.map_or(0, |(block, _)| *block)
}

fn best_of(cells: &Cells, block: u64) -> f64 {
    cells.range((block, 0)..=(block, u32::MAX)).map(|(_, x)| *x).fold(0.0, f64::max)
}

/// The cells that the probe fitted, and whether they are within `tolerance` of the sweeps' mean.
pub(super) fn fitted(first: &Cells, second: &Cells, probe: &Value, tolerance: f64) -> Outcome<Vec<Fitted>> {
    let cells =
        probe.pointer("/fitted_cells").and_then(Value::as_array).ok_or("the probe has no fitted cells")?;
    let mut fitted = Vec::new();
    for cell in cells {
        let (block_bytes, queue_depth) = place(cell)?;
        let probe_bytes_per_s = number(cell, "bandwidth_bytes_per_s")?;
        let sweeps = [first, second].map(|cells| cells.get(&(block_bytes, queue_depth)).copied());
        if let [Some(a), Some(b)] = sweeps {
            let sweeps_bytes_per_s = f64::midpoint(a, b);
            let right = (probe_bytes_per_s / sweeps_bytes_per_s - 1.0).abs() <= tolerance;
            fitted.push(Fitted { block_bytes, queue_depth, sweeps_bytes_per_s, probe_bytes_per_s, right });
        }
    }
    Ok(fitted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells() -> Cells {
        [((4096, 1), 10.0), ((4096, 2), 19.0), ((4096, 4), 20.0), ((8192, 1), 30.0), ((8192, 2), 31.0)].into()
    }

    #[test]
    fn a_sweep_has_knees_and_an_efficient_block() {
        assert_eq!(knee(&cells(), 4096), 2);
        assert_eq!(knee(&cells(), 8192), 1);
        assert_eq!(efficient_block(&cells()), 8192);
    }

    #[test]
    fn an_interval_agrees_up_to_one_step_away() {
        let interval = serde_json::json!({ "value": 8, "low": 8, "high": 16 });
        let agrees = |sweep| question("depth".into(), [sweep, sweep], &interval).unwrap().agrees;
        assert!(agrees(4) && agrees(8) && agrees(32));
        assert!(!agrees(2) && !agrees(64));
    }

    #[test]
    fn noise_is_what_equal_cells_differ_by() {
        let mut second = cells();
        second.insert((4096, 1), 5.0);
        assert!(noise(&cells(), &cells()).1.abs() < 1e-9);
        assert!((noise(&cells(), &second).1 - 1.0).abs() < 1e-9);
    }
}
