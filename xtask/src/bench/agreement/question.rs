//! A derived parameter from exhaustive runs and from a probe.

use serde::Serialize;
use serde_json::Value;

/// Tolerated relative difference of figures.
const NEAR: f64 = 0.1;
/// Tolerated ratio of sizes, depths and counts: one step of the grid.
const STEP: f64 = 2.0;

/// Kind of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Kind {
    /// A size, depth or count on a grid of doublings.
    Step,
    /// A continuous figure.
    Figure,
}

/// A parameter from one exhaustive run and from a probe.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Question {
    pub(super) parameter: String,
    pub(super) kind: Kind,
    /// `None` where there is no value, or it is undetermined.
    exhaustive: Option<f64>,
    probe: Option<f64>,
    /// Bounds of the probe's interval, if it has one.
    bounds: Option<(f64, f64)>,
}

impl Question {
    /// Reads the probe's side from a profile's value: an interval, a number, or null.
    pub(super) fn new(
        parameter: impl Into<String>,
        kind: Kind,
        exhaustive: Option<f64>,
        probe: Option<&Value>,
    ) -> Self {
        let bound = |key: &str| probe.and_then(|probe| probe.get(key)?.as_f64());
        Self {
            parameter: parameter.into(),
            kind,
            exhaustive,
            probe: bound("value").or_else(|| probe.and_then(Value::as_f64)),
            bounds: bound("low").zip(bound("high")),
        }
    }
}

/// A parameter from all exhaustive runs and from a probe.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Answer {
    pub(super) parameter: String,
    pub(super) kind: Kind,
    /// Value of each exhaustive run.
    pub(super) exhaustive: Vec<Option<f64>>,
    pub(super) probe: Option<f64>,
    pub(super) bounds: Option<(f64, f64)>,
    /// True if the probe's value is near that of an exhaustive run, or lies between two.
    pub(super) agrees: bool,
    /// True if the interval contains such a value, or a value between two; `None` where either is
    /// missing.
    pub(super) holds: Option<bool>,
}

impl Answer {
    /// Merges the questions of each exhaustive run. A parameter missing from a run counts as
    /// `None`.
    pub(super) fn all(by_run: &[Vec<Question>]) -> Vec<Self> {
        let mut answers: Vec<Self> = Vec::new();
        for question in by_run.iter().flatten() {
            if answers.iter().any(|answer| answer.parameter == question.parameter) {
                continue;
            }
            let of_run = |run: &Vec<Question>| {
                run.iter().find(|other| other.parameter == question.parameter)?.exhaustive
            };
            answers.push(Self::of(question, by_run.iter().map(of_run).collect()));
        }
        answers
    }

    fn of(question: &Question, exhaustive: Vec<Option<f64>>) -> Self {
        let Question { parameter, kind, probe, bounds, .. } = question.clone();
        let known = exhaustive.iter().copied().flatten();
        let range = known.clone().reduce(f64::min).zip(known.reduce(f64::max));
        let agrees = match (range, probe) {
            (_, None) => exhaustive.contains(&None),
            (None, Some(_)) => false,
            (Some((least, most)), Some(probe)) => agree(kind, probe.clamp(least, most), probe),
        };
        let holds = range.zip(bounds).map(|((least, most), (low, high))| low <= most && least <= high);
        Self { parameter, kind, exhaustive, probe, bounds, agrees, holds }
    }

    /// Relative width of the interval.
    pub(super) fn width(&self) -> Option<f64> {
        let (low, high) = self.bounds?;
        self.probe.filter(|probe| *probe > 0.0).map(|probe| (high - low) / probe)
    }
}

fn agree(kind: Kind, exhaustive: f64, probe: f64) -> bool {
    let is_same = exhaustive.total_cmp(&probe).is_eq();
    match kind {
        Kind::Step => is_same || exhaustive.max(probe) / exhaustive.min(probe) <= STEP,
        Kind::Figure => is_same || (probe / exhaustive - 1.0).abs() <= NEAR,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(kind: Kind, exhaustive: &[Option<f64>], probe: &Value) -> Answer {
        let of_run = |exhaustive: &Option<f64>| vec![Question::new("x", kind, *exhaustive, Some(probe))];
        Answer::all(&exhaustive.iter().map(of_run).collect::<Vec<_>>()).remove(0)
    }

    fn agrees(kind: Kind, exhaustive: Option<f64>, probe: f64) -> bool {
        answer(kind, &[exhaustive], &probe.into()).agrees
    }

    #[test]
    fn steps_and_figures_agree_within_bounds() {
        assert!(agrees(Kind::Step, Some(8.0), 16.0) && !agrees(Kind::Step, Some(8.0), 17.0));
        assert!(agrees(Kind::Figure, Some(10.0), 10.9) && !agrees(Kind::Figure, Some(10.0), 11.2));
        assert!(agrees(Kind::Step, Some(0.0), 0.0) && !agrees(Kind::Step, None, 1.0));
        assert!(answer(Kind::Step, &[None], &Value::Null).agrees);
        assert!(!answer(Kind::Step, &[Some(1.0)], &Value::Null).agrees);
    }

    #[test]
    fn a_wide_interval_holds_and_still_disagrees() {
        let interval = serde_json::json!({ "value": 4, "low": 2, "high": 64 });
        let wide = answer(Kind::Step, &[Some(16.0)], &interval);
        assert_eq!((wide.agrees, wide.holds, wide.width()), (false, Some(true), Some(15.5)));
        assert_eq!(answer(Kind::Step, &[Some(128.0)], &interval).holds, Some(false));
        assert_eq!(answer(Kind::Step, &[None], &interval).holds, None);
    }

    #[test]
    fn where_exhaustive_runs_differ_all_between_them_agrees() {
        let between = answer(Kind::Figure, &[Some(10.0), Some(20.0)], &15.0.into());
        assert!(between.agrees);
        assert!(!answer(Kind::Figure, &[Some(10.0), Some(20.0)], &23.0.into()).agrees);
        assert!(answer(Kind::Step, &[Some(8.0), None], &Value::Null).agrees);
    }
}
