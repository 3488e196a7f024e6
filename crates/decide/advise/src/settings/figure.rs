use nandle_profile::{DeviceProfile, Interval, WritePatternCost};
use serde::ser::{Serialize, SerializeMap as _, Serializer};

use super::{Confidence, completed};

/// Number from a profile, or derived from such numbers, that advice is based on.
///
/// The JSON is `{"says": "…", KEY: {"value", "low", "high"}}`.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// JSON key; ends in the unit (`random_read_latency_ns`).
    pub key: &'static str,
    /// Value with its interval.
    pub value: Interval<f64>,
    /// Sentence for people that contains the value.
    pub says: String,
    /// Upper limit of the confidence and its reason; `None` if only the interval limits it.
    pub surest: Option<(Confidence, &'static str)>,
}

impl Figure {
    pub(crate) fn new(key: &'static str, value: Interval<f64>, says: impl Into<String>) -> Self {
        Self { key, value, says: says.into(), surest: None }
    }

    /// Creates a figure without an interval, stated by the system or the user.
    pub(crate) fn stated(key: &'static str, value: f64, says: impl Into<String>) -> Self {
        Self::new(key, Interval::exact(value), says)
    }

    /// Limits the confidence of conclusions for a reason that the interval doesn't cover.
    pub(crate) fn no_surer_than(mut self, confidence: Confidence, because: &'static str) -> Self {
        self.surest = Some((confidence, because));
        self
    }

    /// Returns true if the interval is narrow enough for conclusions.
    pub(crate) fn is_clear(&self) -> bool {
        WritePatternCost::is_clear(&self.value)
    }

    /// Ratio of the upper bound to the lower bound; 1 for an exact number.
    pub fn spread(&self) -> f64 {
        let Interval { low, high, .. } = self.value;
        match (low, high) {
            (low, high) if low >= high => 1.0,
            (low, high) if low > 0.0 => high / low,
            _ => f64::INFINITY,
        }
    }
}

impl Serialize for Figure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry("says", &self.says)?;
        map.serialize_entry(self.key, &self.value)?;
        map.end()
    }
}

/// Figure that the profile lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
pub struct MissingFigure {
    /// Description of the missing figure.
    pub needs: &'static str,
    /// Instruction for measuring it, with placeholders. [`how_to_measure`](Self::how_to_measure)
    /// fills them.
    pub how: &'static str,
}

impl MissingFigure {
    /// Instruction for measuring the figure on the profile's device, with a command to copy if
    /// there is one.
    pub fn how_to_measure(&self, profile: &DeviceProfile) -> String {
        completed(self.how, profile)
    }
}
