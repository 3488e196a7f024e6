use nandle_profile::Interval;
use serde::ser::{Serialize, SerializeMap as _, Serializer};

pub(super) use crate::figures::words::capitalised;
use crate::figures::words::number;
use crate::settings::Figure;

/// What a figure is held against.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Threshold {
    /// What it is called in JSON; ends in its unit.
    pub key: &'static str,
    /// The value.
    pub value: f64,
    /// The same in words, in the figure's unit.
    pub says: &'static str,
    /// Where it comes from.
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

/// A strength or a risk.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Finding {
    /// What it is, in a few words.
    pub title: &'static str,
    /// The measured figure; `null` of what wasn't measured.
    pub figure: Option<Figure>,
    /// What it is held against; `null` of what wasn't measured, and of what is a fault whatever its size.
    pub threshold: Option<Threshold>,
    /// What follows for a database, in a sentence; of what wasn't measured, how it is had.
    pub means: String,
    /// By how many times the figure passes its threshold, or what stands for it: the order of findings.
    pub weight_ratio: f64,
}

/// On which side of its threshold a figure has to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// A strength when it is small, as times are; a risk when it is large.
    Above,
    /// The other way round.
    Below,
}

impl Finding {
    /// A finding, if the whole of the figure's interval is past its threshold: what the measurement leaves open is none.
    pub(super) fn of(
        title: &'static str,
        figure: Figure,
        side: Side,
        threshold: &Threshold,
        means: impl Into<String>,
    ) -> Option<Self> {
        let Interval { value, low, high } = figure.value;
        let is_past = match side {
            Side::Above => low >= threshold.value,
            Side::Below => high <= threshold.value,
        };
        let ratio = match side {
            Side::Above => value / threshold.value,
            Side::Below => threshold.value / value,
        };
        // Against nothing at all, the ratio would be infinite, which JSON doesn't have.
        let weight_ratio = if ratio.is_finite() { ratio.max(1.0) } else { WEIGHT_MAX };
        is_past.then(|| Self {
            title,
            figure: Some(figure),
            threshold: Some(*threshold),
            means: means.into(),
            weight_ratio: weight_ratio.min(WEIGHT_MAX),
        })
    }

    /// Something that is wrong whatever its size.
    pub(super) fn fault(title: &'static str, figure: Option<Figure>, means: impl Into<String>) -> Self {
        Self { title, figure, threshold: None, means: means.into(), weight_ratio: WEIGHT_MAX }
    }

    /// Something that wasn't measured, ranked as if it were so many times past a threshold.
    pub(super) fn unmeasured(title: &'static str, means: impl Into<String>, weight_ratio: f64) -> Self {
        Self { title, figure: None, threshold: None, means: means.into(), weight_ratio }
    }

    /// The title as what follows wants it: before a figure, or as a sentence of its own.
    pub fn headline(&self) -> String {
        format!("{}{}", self.title, if self.figure.is_some() { ":" } else { "." })
    }

    /// The measured figure, and what follows, in sentences.
    pub fn says(&self) -> String {
        let figure = self.figure.as_ref().map(|figure| format!("{}. ", figure.says));
        figure.unwrap_or_default() + &self.means
    }

    /// The threshold with its source, as a note has it; `None` where there is none.
    pub fn held_against(&self) -> Option<String> {
        self.threshold.map(|threshold| format!("{}: {}", threshold.says, threshold.source))
    }
}

/// No finding counts for more: from a thousand times on, a figure is past its threshold and that is all.
const WEIGHT_MAX: f64 = 1e3;

/// The first of them by their weights, those of equal weight in the order given.
pub(super) fn clearest(mut findings: Vec<Finding>, count: usize) -> Vec<Finding> {
    findings.sort_by(|one, other| other.weight_ratio.total_cmp(&one.weight_ratio));
    findings.truncate(count);
    findings
}

/// `35 times`, `1.5 times`.
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
    fn what_the_interval_leaves_open_is_no_finding() {
        let found =
            |value, low, high, side| Finding::of("Slow", figure(value, low, high), side, &THRESHOLD, "Wait.");
        assert!(found(150.0, 90.0, 200.0, Side::Above).is_none());
        assert!(found(90.0, 80.0, 110.0, Side::Below).is_none());
        let slow = found(250.0, 200.0, 300.0, Side::Above).unwrap();
        assert!((slow.weight_ratio - 2.5).abs() < 1e-9, "{slow:?}");
        assert_eq!(slow.says(), "it takes some time. Wait.");
        assert_eq!(slow.held_against().unwrap(), "at most 100 ns: a test");
    }

    #[test]
    fn the_furthest_past_their_thresholds_come_first() {
        let of = |weight| Finding::unmeasured("Unknown", "", weight);
        let found = clearest(vec![of(1.0), of(4.0), of(2.0), of(3.0)], 3);
        assert_eq!(found.iter().map(|finding| finding.weight_ratio).collect::<Vec<_>>(), [4.0, 3.0, 2.0]);
    }

    #[test]
    fn no_weight_is_infinite() {
        let nothing = Finding::of("None", figure(0.0, 0.0, 0.0), Side::Below, &THRESHOLD, "").unwrap();
        assert!((nothing.weight_ratio - WEIGHT_MAX).abs() < 1e-9);
    }
}
