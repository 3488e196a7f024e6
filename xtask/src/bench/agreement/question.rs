//! A derived parameter: what exhaustive runs say, and what the probe says.

use serde::Serialize;
use serde_json::Value;

/// Figures may be so far apart.
const NEAR: f64 = 0.1;
/// Sizes, depths and counts may be a step of the grid apart.
const STEP: f64 = 2.0;

/// What a parameter is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Kind {
    /// A size, a depth, a count: on a grid of doublings.
    Step,
    /// Anything that can be measured.
    Figure,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Question {
    pub(super) parameter: String,
    pub(super) kind: Kind,
    /// `None` where there is none, or it can't be told.
    pub(super) exhaustive: Option<f64>,
    pub(super) probe: Option<f64>,
    pub(super) probe_low: Option<f64>,
    pub(super) probe_high: Option<f64>,
    pub(super) agrees: bool,
}

impl Question {
    /// Of a value of the profile: an interval, a number, or null.
    pub(super) fn new(
        parameter: impl Into<String>,
        kind: Kind,
        exhaustive: Option<f64>,
        probe: Option<&Value>,
    ) -> Self {
        let bound = |key: &str| probe.and_then(|probe| probe.get(key)?.as_f64());
        let plain = probe.and_then(Value::as_f64);
        let value = bound("value").or(plain);
        Self {
            parameter: parameter.into(),
            kind,
            exhaustive,
            probe: value,
            probe_low: bound("low").or(plain),
            probe_high: bound("high").or(plain),
            agrees: agree(kind, exhaustive, value),
        }
    }
}

fn agree(kind: Kind, exhaustive: Option<f64>, probe: Option<f64>) -> bool {
    match (exhaustive, probe) {
        (None, None) => true,
        (Some(exhaustive), Some(probe)) => {
            let ratio = exhaustive.max(probe) / exhaustive.min(probe);
            match kind {
                Kind::Step => exhaustive.total_cmp(&probe).is_eq() || ratio <= STEP,
                Kind::Figure => (probe / exhaustive - 1.0).abs() <= NEAR,
            }
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_and_figures_agree_within_bounds() {
        assert!(agree(Kind::Step, Some(8.0), Some(16.0)) && !agree(Kind::Step, Some(8.0), Some(17.0)));
        assert!(agree(Kind::Figure, Some(10.0), Some(10.9)) && !agree(Kind::Figure, Some(10.0), Some(11.2)));
        assert!(agree(Kind::Step, None, None) && !agree(Kind::Step, Some(1.0), None));
        let interval = serde_json::json!({ "value": 4, "low": 2, "high": 64 });
        let question = Question::new("depth", Kind::Step, Some(16.0), Some(&interval));
        assert!(!question.agrees, "a wide interval helps nothing");
        assert_eq!((question.probe_low, question.probe_high), (Some(2.0), Some(64.0)));
    }
}
