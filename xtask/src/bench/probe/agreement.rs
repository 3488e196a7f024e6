//! Comparison of a probe with sweeps.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::knee::{efficient_block, knee};
use super::runs::{Believed, Cells, Place};
use crate::Outcome;

/// Tolerated error of a fitted cell, whatever the noise.
pub(super) const TOLERANCE: f64 = 0.05;
/// Ratio of an interval's bounds beyond which it is useless.
pub(super) const USELESS_SPAN: u64 = 8;

/// Difference of two sweeps of a disk in the same cell, without the common factor of all cells.
#[derive(Debug, Clone, Copy, Serialize)]
pub(super) struct Noise {
    /// Half of the cells differ by more.
    pub(super) median: f64,
    /// One cell in ten differs by more.
    pub(super) p90: f64,
}

/// A derived parameter from the sweeps and from the probe.
#[derive(Debug, Serialize)]
pub(super) struct Question {
    pub(super) parameter: String,
    /// Value from all sweeps together.
    pub(super) sweeps: u64,
    /// Value from each sweep.
    pub(super) each_sweep: Vec<u64>,
    pub(super) probe: u64,
    pub(super) probe_low: u64,
    pub(super) probe_high: u64,
    /// True if the probe's value is at most one grid step from that of the sweeps.
    pub(super) value_agrees: bool,
    /// True if its interval contains the value of the sweeps, or ends one grid step from it.
    pub(super) interval_agrees: bool,
    /// Number of sweeps at most one grid step from all others together.
    pub(super) sweeps_agree: usize,
}

/// A cell of random reads.
#[derive(Debug, Serialize)]
pub(super) struct Compared {
    pub(super) block_bytes: u64,
    pub(super) queue_depth: u32,
    /// True if the probe measured the cell, false if it was fitted.
    pub(super) measured: bool,
    pub(super) sweeps_bytes_per_s: f64,
    pub(super) probe_bytes_per_s: f64,
    /// Bounds of the probe's 95 % interval, relative to its value.
    pub(super) probe_low: f64,
    pub(super) probe_high: f64,
    /// Ratio of probe to sweeps, divided by the median ratio of all cells, minus 1.
    pub(super) off_by: f64,
    pub(super) right: bool,
}

impl Question {
    pub(super) fn is_useless(&self) -> bool {
        self.probe_high > USELESS_SPAN * self.probe_low
    }
}

/// Mean of several sweeps, over their common cells.
pub(super) fn mean<'a>(sweeps: impl Iterator<Item = &'a Cells> + Clone) -> Cells {
    let count = sweeps.clone().count();
    let mut figures: BTreeMap<Place, Vec<f64>> = BTreeMap::new();
    for (place, bandwidth) in sweeps.flatten() {
        figures.entry(*place).or_default().push(*bandwidth);
    }
    figures.retain(|_, figures| figures.len() == count);
    figures.into_iter().map(|(place, figures)| (place, figures.iter().sum::<f64>() / count as f64)).collect()
}

/// Ratio of two sweeps in each cell, divided by the median ratio, minus 1; and that median.
fn off_by(one: &Cells, other: &Cells) -> (Cells, f64) {
    let ratio = |(place, x): (&Place, &f64)| Some((*place, x / other.get(place)?));
    let ratios: Cells = one.iter().filter_map(ratio).collect();
    let pace = quantile(ratios.values().copied(), 50);
    (ratios.into_iter().map(|(place, ratio)| (place, ratio / pace - 1.0)).collect(), pace)
}

fn quantile(figures: impl Iterator<Item = f64>, percent: usize) -> f64 {
    let mut sorted: Vec<f64> = figures.collect();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() * percent / 100).copied().unwrap_or(0.0)
}

/// Noise over all cells of all pairs of sweeps.
pub(super) fn noise(sweeps: &[Cells]) -> Noise {
    let pairs = sweeps
        .iter()
        .enumerate()
        .flat_map(|(number, one)| sweeps.iter().skip(number + 1).map(move |other| (one, other)));
    let differences: Vec<f64> =
        pairs.flat_map(|(one, other)| off_by(one, other).0.into_values().map(f64::abs)).collect();
    let at = |percent| quantile(differences.iter().copied(), percent);
    Noise { median: at(50), p90: at(90) }
}

/// Questions about the knee of each block size and the efficient block.
pub(super) fn questions(sweeps: &[Cells], profile: &Value) -> Outcome<Vec<Question>> {
    let knees = profile.pointer("/derived/saturating_queue_depth").and_then(Value::as_array);
    let mut questions = Vec::new();
    for row in knees.ok_or("the probe has no saturating depths")? {
        let block = row.get("block_bytes").and_then(Value::as_u64).ok_or("a knee without block_bytes")?;
        let interval = row.get("queue_depth").ok_or("a knee without queue_depth")?;
        let name = format!("saturating depth, {} KiB", block >> 10);
        questions.push(question(name, sweeps, &|cells| knee(cells, block), interval)?);
    }
    let interval =
        profile.pointer("/derived/efficient_block_bytes").ok_or("the probe has no efficient block")?;
    questions.push(question("efficient block, bytes".into(), sweeps, &efficient_block, interval)?);
    Ok(questions)
}

fn question(
    parameter: String,
    sweeps: &[Cells],
    figure: &dyn Fn(&Cells) -> u64,
    interval: &Value,
) -> Outcome<Question> {
    let bound =
        |key: &str| interval.get(key).and_then(Value::as_u64).ok_or_else(|| format!("{parameter}: no {key}"));
    let (probe, probe_low, probe_high) = (bound("value")?, bound("low")?, bound("high")?);
    let all = figure(&mean(sweeps.iter()));
    let others = |number: usize| {
        let others = sweeps.iter().enumerate().filter(move |(other, _)| *other != number);
        figure(&mean(others.map(|(_, cells)| cells)))
    };
    let each_sweep: Vec<u64> = sweeps.iter().map(figure).collect();
    let agree =
        each_sweep.iter().enumerate().filter(|(number, own)| within_a_step(**own, **own, others(*number)));
    Ok(Question {
        value_agrees: within_a_step(probe, probe, all),
        interval_agrees: within_a_step(probe_low, probe_high, all),
        sweeps_agree: agree.count(),
        sweeps: all,
        each_sweep,
        parameter,
        probe,
        probe_low,
        probe_high,
    })
}

/// Returns true if the value is at most one doubling away.
fn within_a_step(low: u64, high: u64, value: u64) -> bool {
    (low / 2..=high * 2).contains(&value)
}

/// Compares the probe's cells with the mean of the sweeps. A cell is right if its error is at most
/// `tolerance`. Also returns the median ratio.
pub(super) fn compare(
    sweeps: &[Cells],
    believed: &BTreeMap<Place, Believed>,
    tolerance: f64,
) -> (Vec<Compared>, f64) {
    let sweeps = mean(sweeps.iter());
    let probe: Cells = believed.iter().map(|(place, cell)| (*place, cell.bandwidth_bytes_per_s)).collect();
    let (off, pace) = off_by(&probe, &sweeps);
    let compared = |(place, off_by): (Place, f64)| {
        let cell = believed.get(&place)?;
        Some(Compared {
            block_bytes: place.0,
            queue_depth: place.1,
            measured: cell.measured,
            sweeps_bytes_per_s: *sweeps.get(&place)?,
            probe_bytes_per_s: cell.bandwidth_bytes_per_s,
            probe_low: cell.low / cell.bandwidth_bytes_per_s,
            probe_high: cell.high / cell.bandwidth_bytes_per_s,
            off_by,
            right: off_by.abs() <= tolerance,
        })
    };
    (off.into_iter().filter_map(compared).collect(), pace)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells() -> Cells {
        [((4096, 1), 10.0), ((4096, 2), 19.0), ((4096, 4), 20.0), ((8192, 1), 30.0), ((8192, 2), 31.0)].into()
    }

    fn faster(by: f64) -> Cells {
        cells().into_iter().map(|(place, x)| (place, by * x)).collect()
    }

    #[test]
    fn a_value_agrees_up_to_one_step_away_and_a_wide_interval_doesnt_help_it() {
        let question = |value: u64, low: u64, high: u64| {
            let interval = serde_json::json!({ "value": value, "low": low, "high": high });
            question("depth".into(), &[cells(), cells()], &|cells| knee(cells, 4096), &interval).unwrap()
        };
        assert!(question(1, 1, 1).value_agrees && question(4, 4, 4).value_agrees);
        let wide = question(16, 1, 256);
        assert!(!wide.value_agrees && wide.interval_agrees && wide.is_useless());
        assert!(!question(16, 8, 16).interval_agrees && !question(2, 1, 8).is_useless());
        assert_eq!((wide.sweeps, wide.sweeps_agree), (2, 2));
    }

    #[test]
    fn noise_is_what_cells_differ_by_beyond_the_pace() {
        assert!(noise(&[cells(), faster(1.3)]).p90 < 1e-9);
        let mut other = faster(1.3);
        other.insert((4096, 1), 26.0);
        assert!((noise(&[other, cells()]).p90 - 1.0).abs() < 1e-9);
    }

    #[test]
    fn cells_are_right_within_the_tolerance() {
        let believe =
            |bandwidth_bytes_per_s| Believed { bandwidth_bytes_per_s, low: 1.0, high: 99.0, measured: false };
        let mut believed: BTreeMap<_, _> =
            faster(0.8).into_iter().map(|(place, x)| (place, believe(x))).collect();
        believed.insert((8192, 2), believe(31.0));
        let (compared, pace) = compare(&[cells(), cells()], &believed, TOLERANCE);
        assert!((pace - 0.8).abs() < 1e-9);
        let wrong: Vec<Place> = compared
            .iter()
            .filter(|cell| !cell.right)
            .map(|cell| (cell.block_bytes, cell.queue_depth))
            .collect();
        assert_eq!((wrong, compared.len()), (vec![(8192, 2)], 5));
    }
}
