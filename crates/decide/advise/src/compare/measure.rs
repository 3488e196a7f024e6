use nandle_profile::{DeviceProfile, Interval};
use nandle_units::format_bytes;
use serde::ser::{Serialize, SerializeMap as _, Serializer};

use crate::figures::words;
use crate::figures::{Figures, short_method_name};
use crate::settings::{Figure, MissingFigure};

/// Direction of improvement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// A higher value is better.
    Higher,
    /// A lower value is better.
    Lower,
}

/// Unit of a measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// No unit: a count, a ratio, or an amount of money.
    Plain,
    /// Events per second.
    PerSecond,
    /// Bytes per second.
    BytesPerSecond,
    /// Nanoseconds.
    Nanoseconds,
}

impl Unit {
    /// JSON key of a number in this unit.
    pub(super) fn key(self) -> &'static str {
        match self {
            Self::Plain => "ratio",
            Self::PerSecond => "rate_per_s",
            Self::BytesPerSecond => "bandwidth_bytes_per_s",
            Self::Nanoseconds => "time_ns",
        }
    }

    /// Formats the bounds for people: `385–402`. A unit that is separated from the number is left
    /// out. Returns `None` if both bounds print like the value.
    pub fn print_bounds(self, value: &Interval<f64>) -> Option<String> {
        words::bounds(value, |value| self.print(value))
    }

    /// Formats a number with its unit for people.
    pub fn print(self, value: f64) -> String {
        match self {
            Self::Plain => words::number(value),
            Self::PerSecond => format!("{}/s", words::number(value)),
            Self::BytesPerSecond => words::bandwidth(value),
            Self::Nanoseconds => words::time(value),
        }
    }
}

/// One number that ranks devices. The JSON key of the number names its unit.
#[derive(Debug, Clone, PartialEq)]
pub struct Measure {
    /// Name, equal in all profiles.
    pub name: String,
    /// Unit of the value.
    pub unit: Unit,
    /// Direction of improvement.
    pub better: Better,
    /// Value with its interval.
    pub value: Interval<f64>,
    /// Requests that were measured, if profiles differ in them; `null` if the name says it.
    pub measured_on: Option<String>,
}

impl Serialize for Measure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(4))?;
        map.serialize_entry("name", &self.name)?;
        map.serialize_entry("better", &self.better)?;
        map.serialize_entry(self.unit.key(), &self.value)?;
        map.serialize_entry("measured_on", &self.measured_on)?;
        map.end()
    }
}

impl Measure {
    fn new(name: impl Into<String>, unit: Unit, value: Interval<f64>) -> Self {
        let better = if unit == Unit::Nanoseconds { Better::Lower } else { Better::Higher };
        Self { name: name.into(), unit, better, value, measured_on: None }
    }
}

/// Collects all measures of a profile.
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
    add("random reads, max", Unit::PerSecond, derived.random_read_iops_max);
    add("random bandwidth, max", Unit::BytesPerSecond, derived.random_bandwidth_bytes_per_s_max);
    add("sequential bandwidth, max", Unit::BytesPerSecond, derived.sequential_bandwidth_bytes_per_s_max);
    let latency =
        derived.random_read_latency_ns.map(|median| Figures::of(profile).within_noise(median as f64));
    add("latency of a random read", Unit::Nanoseconds, latency);
    for row in &derived.saturating_queue_depth {
        let name = format!("random reads of {}", format_bytes(row.block_bytes));
        add(&name, Unit::BytesPerSecond, Some(row.plateau_bytes_per_s));
    }
}

fn writes(profile: &DeviceProfile, found: &mut Vec<Measure>) {
    let figures = Figures::of(profile);
    let derived = &profile.derived;
    let mut add = |name: &str, unit, figure: Result<Figure, MissingFigure>, measured_on: Option<String>| {
        let measure = figure.ok().map(|figure| Measure::new(name, unit, figure.value));
        found.extend(measure.map(|measure| Measure { measured_on, ..measure }));
    };
    let sequential = figures.best_sequential_write();
    let sequential =
        sequential.map(|row| format!("{}, depth {}", format_bytes(row.block_bytes), row.queue_depth));
    add("sequential writes", Unit::BytesPerSecond, figures.sequential_write_bandwidth(), sequential);
    let steady = derived.steady_state.as_ref().map(|steady| format_bytes(steady.block_bytes));
    add("random writes, steady state", Unit::BytesPerSecond, figures.steady_write_bandwidth(), steady);
    let beside =
        derived.interference.map(|limit| format!("{} reads/s", words::number(limit.read_rate_per_s)));
    add("writes beside reads", Unit::BytesPerSecond, figures.write_bandwidth_beside_reads(), beside);
    let commit = profile
        .commit()
        .map(|commit| format!("{}, {}", format_bytes(commit.write_bytes), short_method_name(commit.method)));
    add("commit", Unit::Nanoseconds, figures.commit(), commit.clone());
    let tail =
        figures.commit_tail().map(|tail| Figure { value: figures.within_noise(tail.value.value), ..tail });
    add("commit, 99th percentile", Unit::Nanoseconds, tail, commit);
    add("writes behind a full cache", Unit::BytesPerSecond, figures.write_bandwidth_behind_cache(), None);
    add("flush of a full cache", Unit::Nanoseconds, figures.flush_of_full_cache(), None);
    let writers = derived.group_commit.map(|gain| format!("{} writers", gain.writers.value));
    add("commits together", Unit::PerSecond, figures.group_commit(), writers);
}
