//! Probes of a drive with many seeds, with their scores.

use serde::Serialize;
use serde_json::Value;

use super::drives::Drive;
use super::question::Answer;
use super::truth::Run;
use super::{reads, writes};
use crate::Outcome;

/// Answers of a read probe without a part of its statistics.
pub(super) fn reading(
    drive: &Drive,
    truth: &[Run],
    seed: u64,
    without: Option<&str>,
) -> Outcome<Vec<Answer>> {
    let left_out = without.map(|part| format!("--without={part}"));
    let options: Vec<&str> = ["--budget=60s", "--read-only"].into_iter().chain(left_out.as_deref()).collect();
    let derived = derived(drive, seed, &options)?;
    let by_run: Vec<_> = truth.iter().map(|run| reads::questions(&run.cells, &derived)).collect();
    Ok(Answer::all(&by_run))
}

/// Answers of a write probe.
pub(super) fn writing(drive: &Drive, truth: &[Run], seed: u64) -> Outcome<Vec<Answer>> {
    let derived = derived(drive, seed, &["--budget=10m"])?;
    let by_run: Vec<_> = truth.iter().map(|run| writes::questions(run, &derived)).collect();
    Ok(Answer::all(&by_run))
}

fn derived(drive: &Drive, seed: u64, options: &[&str]) -> Outcome<Value> {
    let mut profile = drive.probe(seed, options)?;
    Ok(profile.get_mut("derived").ok_or("a profile without `derived`")?.take())
}

/// Numbers of answers that agree and of intervals that cover.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub(super) struct Score {
    pub(super) asked: usize,
    pub(super) agree: usize,
    pub(super) intervals: usize,
    pub(super) hold: usize,
    /// Median relative width of the intervals.
    pub(super) width_median: f64,
}

impl Score {
    pub(super) fn of<'a>(answers: impl IntoIterator<Item = &'a Answer>) -> Self {
        let answers: Vec<&Answer> = answers.into_iter().collect();
        let count = |is_one: fn(&Answer) -> bool| answers.iter().filter(|answer| is_one(answer)).count();
        let mut widths: Vec<f64> = answers.iter().filter_map(|answer| answer.width()).collect();
        widths.sort_by(f64::total_cmp);
        Self {
            asked: answers.len(),
            agree: count(|answer| answer.agrees),
            intervals: count(|answer| answer.holds.is_some()),
            hold: count(|answer| answer.holds == Some(true)),
            width_median: widths.get(widths.len() / 2).copied().unwrap_or(0.0),
        }
    }

    pub(super) fn agreement(&self) -> f64 {
        self.agree as f64 / self.asked.max(1) as f64
    }

    pub(super) fn coverage(&self) -> f64 {
        self.hold as f64 / self.intervals.max(1) as f64
    }
}
