use nandle_io::units::format_bytes;
use nandle_profile::{DeviceProfile, Interval};
use serde::ser::{Serialize, SerializeMap as _, Serializer};

use crate::figures::Figures;
use crate::figures::words;

/// Which direction is good.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// More is better.
    Higher,
    /// Less is better.
    Lower,
}

/// What a measure counts in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Nothing: a count, a ratio, an amount of money.
    Plain,
    /// Events in a second.
    PerSecond,
    /// Bytes in a second.
    BytesPerSecond,
    /// Nanoseconds.
    Nanoseconds,
}

impl Unit {
    /// What a number with this unit is called in JSON.
    pub(super) fn key(self) -> &'static str {
        match self {
            Self::Plain => "ratio",
            Self::PerSecond => "rate_per_s",
            Self::BytesPerSecond => "bandwidth_bytes_per_s",
            Self::Nanoseconds => "time_ns",
        }
    }

    /// A number with this unit, for people.
    pub fn print(self, value: f64) -> String {
        match self {
            Self::Plain => words::number(value),
            Self::PerSecond => format!("{}/s", words::number(value)),
            Self::BytesPerSecond => words::bandwidth(value),
            Self::Nanoseconds => words::time(value),
        }
    }
}

/// One number by which a device is better or worse than another. In JSON the number's key names its unit.
#[derive(Debug, Clone, PartialEq)]
pub struct Measure {
    /// What it is; the same in every profile.
    pub name: String,
    /// What it counts in.
    pub unit: Unit,
    /// Which direction is good.
    pub better: Better,
    /// The number with its interval.
    pub value: Interval<f64>,
}

impl Serialize for Measure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(3))?;
        map.serialize_entry("name", &self.name)?;
        map.serialize_entry("better", &self.better)?;
        map.serialize_entry(self.unit.key(), &self.value)?;
        map.end()
    }
}

impl Measure {
    fn new(name: impl Into<String>, unit: Unit, value: Interval<f64>) -> Self {
        let better = if unit == Unit::Nanoseconds { Better::Lower } else { Better::Higher };
        Self { name: name.into(), unit, better, value }
    }
}

/// Every measure that a profile has.
pub fn measures(profile: &DeviceProfile) -> Vec<Measure> {
    let mut found = Vec::new();
    reads(profile, &mut found);
    writes(profile, &mut found);
    found
}

fn reads(profile: &DeviceProfile, found: &mut Vec<Measure>) {
    let derived = &profile.derived;
    let mut add = |name: &str, unit, value: Option<Interval<f64>>| {
        found.extend(value.map(|value| Measure::new(name, unit, value)));
    };
    add("random reads, most", Unit::PerSecond, derived.random_read_iops_max);
    add("random bandwidth, most", Unit::BytesPerSecond, derived.random_bandwidth_bytes_per_s_max);
    add("sequential bandwidth, most", Unit::BytesPerSecond, derived.sequential_bandwidth_bytes_per_s_max);
    let latency = derived.random_read_latency_ns.map(|median| around(profile, median as f64));
    add("latency of a random read", Unit::Nanoseconds, latency);
    for row in &derived.saturating_queue_depth {
        let name = format!("random reads of {}", format_bytes(row.block_bytes));
        add(&name, Unit::BytesPerSecond, Some(row.plateau_bytes_per_s));
    }
}

fn writes(profile: &DeviceProfile, found: &mut Vec<Measure>) {
    let figures = Figures::of(profile);
    let mut add = |name: &str, unit, value: Option<Interval<f64>>| {
        found.extend(value.map(|value| Measure::new(name, unit, value)));
    };
    let value = |figure: Result<crate::settings::Figure, _>| figure.ok().map(|figure| figure.value);
    add("sequential writes", Unit::BytesPerSecond, value(figures.sequential_write_bandwidth()));
    add("random writes, steady state", Unit::BytesPerSecond, value(figures.steady_write_bandwidth()));
    add("writes beside reads", Unit::BytesPerSecond, value(figures.write_bandwidth_beside_reads()));
    add("commit", Unit::Nanoseconds, value(figures.fastest_commit()));
    add("commits together", Unit::PerSecond, value(figures.group_commit()));
}

/// A number without bounds of its own gets those of the device's noise: twice the standard deviation of the reference
/// cell's slices.
fn around(profile: &DeviceProfile, value: f64) -> Interval<f64> {
    let noise = profile.conditions.reference.as_ref().map_or(0.0, |reference| 2.0 * reference.variation);
    Interval { value, low: value * (1.0 - noise).max(0.0), high: value * (1.0 + noise) }
}
