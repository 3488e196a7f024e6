use std::fmt;

use nandle_profile::WritePatternCost;
use serde::Serialize;

use super::Figure;
use crate::figures::words::UNCLEAR_SPREAD;

/// Source of the rule behind a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RuleSource {
    /// Vendor documentation or the product's maintainers.
    Documentation,
    /// Nandle's own rule.
    Ours,
    /// Experts disagree; the rule is one side's.
    Contested,
}

/// Confidence in a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// The rule is contested, or the interval is wide.
    Low,
    /// The rule is Nandle's own, or the interval is moderately wide.
    Medium,
    /// The rule is per vendor documentation, and the interval is narrow.
    High,
}

impl fmt::Display for Confidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        })
    }
}

/// Largest ratio of the bounds for high confidence.
const SHARP_SPREAD: f64 = 1.5;
/// Largest ratio of the bounds for medium confidence.
const WIDE_SPREAD: f64 = WritePatternCost::CLEAR_SPREAD_MAX;

/// Confidence of a rule applied to figures, with the reason in words.
pub(crate) fn judge(source: RuleSource, figures: &[Figure]) -> (Confidence, String) {
    let spread = figures.iter().map(Figure::spread).fold(1.0, f64::max);
    let has_no_upper_bound = figures.iter().any(|figure| figure.value.high.is_infinite());
    let (of_rule, rule) = match source {
        RuleSource::Documentation => (Confidence::High, "rule per vendor documentation"),
        RuleSource::Ours => (Confidence::Medium, "rule by Nandle"),
        RuleSource::Contested => (Confidence::Low, "experts disagree"),
    };
    let of_figures = match spread {
        spread if spread <= SHARP_SPREAD => Confidence::High,
        spread if spread <= WIDE_SPREAD => Confidence::Medium,
        _ => Confidence::Low,
    };
    let room = if has_no_upper_bound {
        "; the measurement has no upper bound".into()
    } else if !spread.is_finite() {
        "; the measurement's lower bound is 0".into()
    } else if spread > UNCLEAR_SPREAD {
        "; the measurement is unclear".into()
    } else if spread > SHARP_SPREAD {
        format!("; the measurement's bounds are {spread:.1} times apart")
    } else {
        String::new()
    };
    let surest = figures.iter().filter_map(|figure| figure.surest).min_by_key(|(confidence, _)| *confidence);
    let (of_measured, unmeasured) = surest
        .map_or((Confidence::High, String::new()), |(confidence, because)| {
            (confidence, format!("; {because}"))
        });
    (of_rule.min(of_figures).min(of_measured), format!("{rule}{room}{unmeasured}"))
}

#[cfg(test)]
mod tests {
    use nandle_profile::Interval;

    use super::*;

    fn figure(low: f64, high: f64) -> Figure {
        Figure::new("latency_ns", Interval { value: low, low, high }, "")
    }

    #[test]
    fn the_weaker_of_rule_and_measurement_decides() {
        let level = |source, figures: &[Figure]| judge(source, figures).0;
        assert_eq!(level(RuleSource::Documentation, &[figure(1.0, 1.2)]), Confidence::High);
        assert_eq!(level(RuleSource::Documentation, &[figure(1.0, 3.0)]), Confidence::Medium);
        assert_eq!(level(RuleSource::Ours, &[figure(1.0, 1.0)]), Confidence::Medium);
        assert_eq!(level(RuleSource::Ours, &[figure(1.0, 1.0), figure(1.0, 9.0)]), Confidence::Low);
        assert_eq!(level(RuleSource::Contested, &[figure(1.0, 1.0)]), Confidence::Low);
        assert_eq!(level(RuleSource::Documentation, &[figure(0.0, 1.0)]), Confidence::Low);
    }

    #[test]
    fn what_was_not_measured_bounds_the_confidence() {
        let small = figure(1.0, 1.0).no_surer_than(Confidence::Medium, "large ones weren't measured");
        let (confidence, reason) = judge(RuleSource::Documentation, &[figure(1.0, 1.0), small]);
        assert_eq!(confidence, Confidence::Medium);
        assert!(reason.ends_with("large ones weren't measured"), "{reason}");
    }

    #[test]
    fn wide_bounds_are_named() {
        assert!(judge(RuleSource::Ours, &[figure(1.0, 8.0)]).1.contains("8.0 times"));
        assert!(judge(RuleSource::Ours, &[figure(1.0, f64::INFINITY)]).1.contains("no upper bound"));
        assert!(judge(RuleSource::Ours, &[figure(0.0, 1.0)]).1.contains("lower bound is 0"));
        assert_eq!(judge(RuleSource::Ours, &[figure(1.0, 1.0)]).1, "rule by Nandle");
    }
}
