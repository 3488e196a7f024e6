use nandle_profile::{DeviceProfile, Interval};
use serde::ser::{Serialize, SerializeMap as _, Serializer};

use super::measure::{Better, Measure, Unit, measures};

/// Outcome of comparing one measure of two profiles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Worse by more than the tolerance, and the intervals don't overlap.
    Regressed,
    /// Better, and the intervals don't overlap.
    Improved,
    /// The intervals overlap, or the measure is worse by no more than the tolerance.
    Unchanged,
    /// The newer profile lacks the measure.
    Gone,
}

/// One measure in an older and a newer profile. The JSON keys of the numbers name the unit:
/// `old_time_ns`, `new_time_ns`.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// Name of the measure.
    pub name: String,
    /// Unit of the values.
    pub unit: Unit,
    /// Older value.
    pub old: Interval<f64>,
    /// Newer value; `null` if it wasn't measured.
    pub new: Option<Interval<f64>>,
    /// Gain of the newer value in per cent of the older. Negative if worse; `null` if the older
    /// value is 0.
    pub gain_percent: Option<f64>,
    /// Outcome of the comparison.
    pub verdict: Outcome,
    /// Requests measured in the older and the newer profile; `null` if they are equal.
    pub measured_on: Option<[String; 2]>,
}

impl Serialize for Change {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(6))?;
        map.serialize_entry("name", &self.name)?;
        map.serialize_entry(&format!("old_{}", self.unit.key()), &self.old)?;
        map.serialize_entry(&format!("new_{}", self.unit.key()), &self.new)?;
        map.serialize_entry("gain_percent", &self.gain_percent)?;
        map.serialize_entry("verdict", &self.verdict)?;
        map.serialize_entry("measured_on", &self.measured_on)?;
        map.end()
    }
}

/// Compares each measure of the older profile with the newer one. A measure has regressed if it is
/// worse by more than `tolerated_percent` and the intervals don't overlap, so noise alone is no
/// regression.
pub fn changes(old: &DeviceProfile, new: &DeviceProfile, tolerated_percent: f64) -> Vec<Change> {
    let newer = measures(new);
    let change = |old: Measure| {
        let new = newer.iter().find(|new| new.name == old.name);
        let change = judge(&old, new.map(|new| new.value), tolerated_percent);
        let both = old.measured_on.zip(new.and_then(|new| new.measured_on.clone()));
        Change { measured_on: both.filter(|(old, new)| old != new).map(<[String; 2]>::from), ..change }
    };
    measures(old).into_iter().map(change).collect()
}

fn judge(old: &Measure, new: Option<Interval<f64>>, tolerated_percent: f64) -> Change {
    let gain = new.and_then(|new| gain_percent(old, &new));
    let verdict = match (new, gain) {
        (None, _) => Outcome::Gone,
        (Some(new), _) if overlap(&old.value, &new) => Outcome::Unchanged,
        (Some(_), Some(gain)) if gain < -tolerated_percent => Outcome::Regressed,
        (Some(_), Some(gain)) if gain <= 0.0 => Outcome::Unchanged,
        // Any increase from 0 counts.
        (Some(_), None) if old.better == Better::Lower => Outcome::Regressed,
        (Some(_), _) => Outcome::Improved,
    };
    Change {
        name: old.name.clone(),
        unit: old.unit,
        old: old.value,
        new,
        gain_percent: gain,
        verdict,
        measured_on: None,
    }
}

/// Returns `None` if the older value is 0.
fn gain_percent(old: &Measure, new: &Interval<f64>) -> Option<f64> {
    let relative = new.value / old.value.value - 1.0;
    let gain = 100.0 * if old.better == Better::Higher { relative } else { 0.0 - relative };
    (old.value.value > 0.0).then_some(gain)
}

fn overlap(one: &Interval<f64>, other: &Interval<f64>) -> bool {
    one.low <= other.high && other.low <= one.high
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measure(better: Better, low: f64, high: f64) -> Measure {
        let value = Interval { value: f64::midpoint(low, high), low, high };
        Measure { name: "m".into(), unit: Unit::PerSecond, better, value, measured_on: None }
    }

    fn verdict(better: Better, old: (f64, f64), new: (f64, f64)) -> Outcome {
        let new = Interval { value: f64::midpoint(new.0, new.1), low: new.0, high: new.1 };
        judge(&measure(better, old.0, old.1), Some(new), 10.0).verdict
    }

    #[test]
    fn a_regression_is_large_and_out_of_the_noise() {
        assert_eq!(verdict(Better::Higher, (95.0, 105.0), (70.0, 80.0)), Outcome::Regressed);
        assert_eq!(verdict(Better::Higher, (95.0, 105.0), (60.0, 96.0)), Outcome::Unchanged);
        assert_eq!(verdict(Better::Higher, (99.0, 101.0), (94.0, 96.0)), Outcome::Unchanged);
        assert_eq!(verdict(Better::Higher, (99.0, 101.0), (105.0, 106.0)), Outcome::Improved);
    }

    /// A drive that sustained no writes during its reads.
    #[test]
    fn change_from_zero_has_no_percentage() {
        let nothing = measure(Better::Higher, 0.0, 0.0);
        let same = judge(&nothing, Some(nothing.value), 10.0);
        assert_eq!((same.gain_percent, same.verdict), (None, Outcome::Unchanged));
        assert_eq!(verdict(Better::Higher, (0.0, 0.0), (5.0, 6.0)), Outcome::Improved);
    }

    #[test]
    fn less_time_is_an_improvement() {
        assert_eq!(verdict(Better::Lower, (99.0, 101.0), (120.0, 130.0)), Outcome::Regressed);
        assert_eq!(verdict(Better::Lower, (99.0, 101.0), (50.0, 60.0)), Outcome::Improved);
        assert_eq!(judge(&measure(Better::Lower, 1.0, 2.0), None, 10.0).verdict, Outcome::Gone);
    }
}
