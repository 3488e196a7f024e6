use nandle_profile::{DeviceProfile, Interval, WritePatternCost};
use serde::ser::{Serialize, SerializeMap as _, Serializer};

use super::{Confidence, completed};

/// A number that a profile gives, or that follows from some: the ground that a piece of advice stands on.
///
/// As JSON it is `{"says": "…", KEY: {"value", "low", "high"}}`.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// What it is called; ends in its unit (`random_read_latency_ns`).
    pub key: &'static str,
    /// The number with its interval.
    pub value: Interval<f64>,
    /// The number in a sentence for people.
    pub says: String,
    /// How sure anything that follows from it may be at most, and why; `None` where its interval says it all.
    pub surest: Option<(Confidence, &'static str)>,
}

impl Figure {
    pub(crate) fn new(key: &'static str, value: Interval<f64>, says: impl Into<String>) -> Self {
        Self { key, value, says: says.into(), surest: None }
    }

    /// A number without an interval: what the system states, or the user.
    pub(crate) fn stated(key: &'static str, value: f64, says: impl Into<String>) -> Self {
        Self::new(key, Interval::exact(value), says)
    }

    /// Bounds how sure anything is that follows from it: its interval doesn't tell what else wasn't measured.
    pub(crate) fn no_surer_than(mut self, confidence: Confidence, because: &'static str) -> Self {
        self.surest = Some((confidence, because));
        self
    }

    /// Whether it is known well enough to conclude something from it.
    pub(crate) fn is_clear(&self) -> bool {
        WritePatternCost::is_clear(&self.value)
    }

    /// How many times the lower bound the upper one is; 1 is a sharp number.
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

/// A figure that the profile doesn't hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
pub struct MissingFigure {
    /// What is missing.
    pub needs: &'static str,
    /// How it is had; [`how_for`](Self::how_for) completes it.
    pub how: &'static str,
}

impl MissingFigure {
    /// How it is had of the device of a profile, as a command that can be copied where there is one.
    pub fn how_for(&self, profile: &DeviceProfile) -> String {
        completed(self.how, profile)
    }
}
