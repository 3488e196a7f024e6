//! Tasks that several programs do in turns, round by round.

use std::collections::BTreeMap;

use super::results::{Comparison, Failure, Runs};
use crate::{Outcome, output};

/// A task with all runs of all programs.
pub(super) struct Trial<T> {
    /// Name in records.
    pub(super) name: String,
    pub(super) task: T,
    everyone: Vec<&'static str>,
    /// Runs of each program, or the reason of its failure.
    runs: BTreeMap<&'static str, Result<Vec<Run>, String>>,
    /// First program's answer, which all others must match.
    answer: Option<String>,
}

/// One run of a program.
#[derive(Debug, Clone)]
pub(super) struct Run {
    pub(super) seconds: f64,
    /// Peak without page cache.
    pub(super) own_bytes: Option<u64>,
    /// Compared part of the result.
    pub(super) answer: String,
}

/// A run, or the reason of its failure.
pub(super) type Ran = Result<Run, String>;

/// Two compared programs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pair {
    pub(super) baseline: &'static str,
    pub(super) candidate: &'static str,
}

/// A figure of a run, in a unit.
#[derive(Debug, Clone, Copy)]
pub(super) struct Measure {
    unit: &'static str,
    figure: fn(&Run) -> Option<f64>,
}

pub(super) const SECONDS: Measure = Measure { unit: "s", figure: |run| Some(run.seconds) };
pub(super) const MILLISECONDS: Measure = Measure { unit: "ms", figure: |run| Some(run.seconds * 1e3) };
/// Peak memory. Missing if the program ended before the first sample.
pub(super) const OWN_MEMORY: Measure = Measure {
    unit: "MiB",
    figure: |run| Some(run.own_bytes.filter(|bytes| *bytes > 0)? as f64 / f64::from(1 << 20)),
};

/// Runs all tasks in rounds. After each task `record` receives the results so far and the number of
/// rounds, so that an interrupted benchmark has compared all programs.
pub(super) fn rounds<T>(
    trials: &mut [Trial<T>],
    rounds: usize,
    once: &mut dyn FnMut(&T, &'static str) -> Outcome<Ran>,
    record: &mut dyn FnMut(&[Trial<T>], &str) -> Outcome,
) -> Outcome {
    for round in 0..rounds {
        for number in 0..trials.len() {
            if let Some(trial) = trials.get_mut(number) {
                output::say(&format!("round {}: {}", round + 1, trial.name));
                trial.round(round, once)?;
            }
            let is_whole = number + 1 == trials.len();
            record(trials, &done(if is_whole { round + 1 } else { round }, is_whole))?;
        }
    }
    Ok(())
}

/// Formats `3 rounds` or `3 rounds and a part of the next`.
fn done(rounds: usize, is_whole: bool) -> String {
    let plural = if rounds == 1 { "" } else { "s" };
    let rest = if is_whole { "" } else { " and a part of the next" };
    format!("{rounds} round{plural}{rest}")
}

impl<T> Trial<T> {
    pub(super) fn new(name: String, task: T, everyone: Vec<&'static str>) -> Self {
        Self { name, task, everyone, runs: BTreeMap::new(), answer: None }
    }

    /// Runs each program once, with a different first one in each round. A program that failed
    /// isn't run again.
    fn round(&mut self, round: usize, once: &mut dyn FnMut(&T, &'static str) -> Outcome<Ran>) -> Outcome {
        let mut everyone = self.everyone.clone();
        everyone.rotate_left(round % self.everyone.len().max(1));
        for name in everyone {
            let runs = self.runs.entry(name).or_insert_with(|| Ok(Vec::new()));
            let Ok(known) = runs else { continue };
            let ran = once(&self.task, name)?;
            match ran.and_then(|run| same_answer(&mut self.answer, run)) {
                Ok(run) => known.push(run),
                Err(why) => *runs = Err(why),
            }
        }
        Ok(())
    }

    /// Compares pairs by a measure, where both have runs.
    pub(super) fn comparisons(&self, pairs: &[Pair], measure: Measure) -> Outcome<Vec<Comparison>> {
        let figures = |name: &str| {
            let runs = self.runs.get(name)?.as_ref().ok()?;
            runs.iter()
                .map(measure.figure)
                .collect::<Option<Vec<f64>>>()
                .filter(|figures| !figures.is_empty())
        };
        let both =
            pairs.iter().filter_map(|pair| Some((pair, figures(pair.baseline)?, figures(pair.candidate)?)));
        let compared = both.map(|(pair, baseline, candidate)| {
            let baseline = Runs { name: pair.baseline, figures: baseline };
            let candidate = Runs { name: pair.candidate, figures: candidate };
            Comparison::new(&self.name, measure.unit, baseline, candidate)
        });
        compared.collect()
    }

    pub(super) fn failures(&self) -> Vec<Failure> {
        let failed = self.runs.iter().filter_map(|(name, runs)| Some((name, runs.as_ref().err()?)));
        let failed = failed.map(|(name, message)| Failure {
            task: self.name.clone(),
            name: (*name).to_owned(),
            message: message.clone(),
        });
        failed.collect()
    }
}

/// Checks an answer against the first one.
fn same_answer(answer: &mut Option<String>, run: Run) -> Result<Run, String> {
    let first = answer.get_or_insert_with(|| run.answer.clone());
    let Some((own, other)) = difference(&run.answer, first) else { return Ok(run) };
    let why = format!("its result has {own:?} where another has {other:?}");
    output::say(&format!("  {why}"));
    Err(why)
}

/// First pair of lines that differ.
fn difference<'a>(one: &'a str, other: &'a str) -> Option<(&'a str, &'a str)> {
    if one == other {
        return None;
    }
    let (mut one, mut other) = (one.lines(), other.lines());
    loop {
        match (one.next(), other.next()) {
            (Some(own), Some(others)) if own == others => {}
            (own, others) => return Some((own.unwrap_or("no more"), others.unwrap_or("no more"))),
        }
    }
}

/// Summary of comparisons: geometric mean of the ratios, and the largest with its task.
pub(super) fn summary<'a>(comparisons: impl Iterator<Item = &'a Comparison>) -> Option<String> {
    let ratios: Vec<(&str, f64)> = comparisons.map(|one| (one.task.as_str(), one.ratio.median)).collect();
    let (task, worst) = ratios.iter().max_by(|one, other| one.1.total_cmp(&other.1))?;
    let mean = (ratios.iter().map(|one| one.1.ln()).sum::<f64>() / ratios.len() as f64).exp();
    Some(format!("{mean:.2} (greatest {worst:.2}, {task})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAIRS: [Pair; 2] =
        [Pair { baseline: "old", candidate: "new" }, Pair { baseline: "odd", candidate: "new" }];

    fn run(seconds: f64, answer: &str) -> Run {
        Run { seconds, own_bytes: Some(3 << 20), answer: answer.to_owned() }
    }

    #[test]
    fn everyone_takes_turns_and_failures_are_told() {
        let mut trials = vec![Trial::new("a task".to_owned(), 2.0, vec!["old", "new", "odd"])];
        let (mut order, mut told) = (Vec::new(), Vec::new());
        rounds(
            &mut trials,
            2,
            &mut |task, name| {
                order.push(name);
                Ok(match name {
                    "old" => Ok(run(2.0 * task, "1 row")),
                    "new" => Ok(run(1.0, "1 row")),
                    _ => Ok(run(1.0, "2 rows")),
                })
            },
            &mut |_, rounds| {
                told.push(rounds.to_owned());
                Ok(())
            },
        )
        .unwrap();
        assert_eq!(order, ["old", "new", "odd", "new", "old"]);
        assert_eq!(told, ["1 round", "2 rounds"]);
        let compared = trials[0].comparisons(&PAIRS, SECONDS).unwrap();
        assert_eq!((compared.len(), compared[0].ratio.median), (1, 0.25));
        assert_eq!(trials[0].comparisons(&PAIRS, OWN_MEMORY).unwrap()[0].candidate.runs, [3.0, 3.0]);
        assert!(trials[0].failures()[0].message.contains("\"2 rows\""));
        assert_eq!(summary(compared.iter()).unwrap(), "0.25 (greatest 0.25, a task)");
    }

    #[test]
    fn what_is_ended_early_has_whole_tasks() {
        let mut trials =
            vec![Trial::new("one".to_owned(), 1, vec!["new"]), Trial::new("two".to_owned(), 2, vec!["new"])];
        let mut last = String::new();
        let ended = rounds(
            &mut trials,
            3,
            &mut |task, _| if *task == 2 { Err("ended".into()) } else { Ok(Ok(run(1.0, ""))) },
            &mut |_, rounds| {
                rounds.clone_into(&mut last);
                Ok(())
            },
        );
        assert!(ended.is_err());
        assert_eq!(last, "0 rounds and a part of the next");
    }

    #[test]
    fn results_differ_in_their_first_other_line() {
        assert_eq!(difference("a\nb", "a\nb"), None);
        assert_eq!(difference("a\nb", "a\nc\n"), Some(("b", "c")));
        assert_eq!(difference("a", "a\nb"), Some(("no more", "b")));
    }
}
