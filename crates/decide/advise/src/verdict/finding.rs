use nandle_profile::Interval;
use serde::ser::{Serialize, SerializeMap as _, Serializer};

pub(super) use crate::figures::words::capitalised;
use crate::figures::words::number;
use crate::settings::Figure;

/// Limit that a figure is compared with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Threshold {
    /// JSON key; ends in the unit.
    pub key: &'static str,
    /// Value.
    pub value: f64,
    /// Value in words, in the unit of the figure.
    pub says: &'static str,
    /// Source of the threshold.
    pub source: &'static str,
}

impl Serialize for Threshold {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(3))?;
        map.serialize_entry("says", self.says)?;
        map.serialize_entry("source", self.source)?;
        map.serialize_entry(self.key, &self.value)?;
        map.end()
    }
}

/// Strength or risk of a device.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Finding {
    /// Short title.
    pub title: &'static str,
    /// Measured figure; `null` if it wasn't measured.
    pub figure: Option<Figure>,
    /// Threshold; `null` if the figure wasn't measured, or is a fault at any size.
    pub threshold: Option<Threshold>,
    /// Consequence for a database; if the figure wasn't measured, the way to measure it.
    pub means: String,
    /// Ratio of the figure to its threshold, or a substitute. Findings are sorted by it.
    pub weight_ratio: f64,
}

/// Side of the threshold on which the figure must lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ThresholdSide {
    /// At the threshold or above.
    Above,
    /// At the threshold or below.
    Below,
}

impl Finding {
    /// Returns a finding if the figure's whole interval is past the threshold.
    pub(super) fn of(
        title: &'static str,
        figure: Figure,
        side: ThresholdSide,
        threshold: &Threshold,
        means: impl Into<String>,
    ) -> Option<Self> {
        let Interval { value, low, high } = figure.value;
        let is_past = match side {
            ThresholdSide::Above => low >= threshold.value,
            ThresholdSide::Below => high <= threshold.value,
        };
        let ratio = match side {
            ThresholdSide::Above => value / threshold.value,
            ThresholdSide::Below => threshold.value / value,
        };
        // JSON has no infinite numbers, so a ratio to 0 gets the greatest weight.
        let weight_ratio = if ratio.is_finite() { ratio.max(1.0) } else { WEIGHT_MAX };
        is_past.then(|| Self {
            title,
            figure: Some(figure),
            threshold: Some(*threshold),
            means: means.into(),
            weight_ratio: weight_ratio.min(WEIGHT_MAX),
        })
    }

    /// Creates a finding that is a fault at any size.
    pub(super) fn fault(title: &'static str, figure: Option<Figure>, means: impl Into<String>) -> Self {
        Self { title, figure, threshold: None, means: means.into(), weight_ratio: WEIGHT_MAX }
    }

    /// Creates a finding for a figure that wasn't measured, with the weight to rank it by.
    pub(super) fn unmeasured(title: &'static str, means: impl Into<String>, weight_ratio: f64) -> Self {
        Self { title, figure: None, threshold: None, means: means.into(), weight_ratio }
    }

    /// Title, punctuated to precede a figure or to stand alone.
    pub fn headline(&self) -> String {
        format!("{}{}", self.title, if self.figure.is_some() { ":" } else { "." })
    }

    /// Figure and consequence, in sentences.
    pub fn says(&self) -> String {
        let figure = self.figure.as_ref().map(|figure| format!("{}. ", figure.says));
        figure.unwrap_or_default() + &self.means
    }

    /// Threshold with its source, for a note; `None` without a threshold.
    pub fn threshold_note(&self) -> Option<String> {
        self.threshold.map(|threshold| format!("{}: {}", threshold.says, threshold.source))
    }
}

/// Greatest weight of a finding.
const WEIGHT_MAX: f64 = 1e3;

/// The `count` findings with the greatest weights; equal weights keep their order.
pub(super) fn clearest(mut findings: Vec<Finding>, count: usize) -> Vec<Finding> {
    findings.sort_by(|one, other| other.weight_ratio.total_cmp(&one.weight_ratio));
    findings.truncate(count);
    findings
}

/// Formats `35 times`, `1.5 times`.
pub(super) fn times(ratio: f64) -> String {
    format!("{} times", number(ratio))
}

#[cfg(test)]
mod tests {
    use super::*;

    const THRESHOLD: Threshold =
        Threshold { key: "latency_ns", value: 100.0, says: "at most 100 ns", source: "a test" };

    fn figure(value: f64, low: f64, high: f64) -> Figure {
        Figure::new("latency_ns", Interval { value, low, high }, "it takes some time")
    }

    #[test]
    fn interval_across_the_threshold_is_no_finding() {
        let found =
            |value, low, high, side| Finding::of("Slow", figure(value, low, high), side, &THRESHOLD, "Wait.");
        assert!(found(150.0, 90.0, 200.0, ThresholdSide::Above).is_none());
        assert!(found(90.0, 80.0, 110.0, ThresholdSide::Below).is_none());
        let slow = found(250.0, 200.0, 300.0, ThresholdSide::Above).unwrap();
        assert!((slow.weight_ratio - 2.5).abs() < 1e-9, "{slow:?}");
        assert_eq!(slow.says(), "it takes some time. Wait.");
        assert_eq!(slow.threshold_note().unwrap(), "at most 100 ns: a test");
    }

    #[test]
    fn findings_with_the_greatest_weights_come_first() {
        let of = |weight| Finding::unmeasured("Unknown", "", weight);
        let found = clearest(vec![of(1.0), of(4.0), of(2.0), of(3.0)], 3);
        assert_eq!(found.iter().map(|finding| finding.weight_ratio).collect::<Vec<_>>(), [4.0, 3.0, 2.0]);
    }

    #[test]
    fn no_weight_is_infinite() {
        let nothing =
            Finding::of("None", figure(0.0, 0.0, 0.0), ThresholdSide::Below, &THRESHOLD, "").unwrap();
        assert!((nothing.weight_ratio - WEIGHT_MAX).abs() < 1e-9);
    }
}
