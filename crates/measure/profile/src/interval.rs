use std::ops::Div;

use serde::{Deserialize, Serialize};

/// A value with its interval of uncertainty.
///
/// `low` and `high` bound 95 % of the draws from the measured distributions, unless the field's
/// documentation differs. `value` lies within them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Interval<T> {
    /// Best estimate.
    pub value: T,
    /// Lower bound.
    pub low: T,
    /// Upper bound.
    pub high: T,
}

impl<T: PartialOrd + Copy> Interval<T> {
    /// Interval of a value that is exactly known.
    pub fn exact(value: T) -> Self {
        Self { value, low: value, high: value }
    }

    /// Returns true if `other` lies within the bounds, inclusive.
    pub fn contains(&self, other: T) -> bool {
        self.low <= other && other <= self.high
    }
}

/// Ratio of the bounds from which an interval doesn't even show the order of magnitude.
const APART: u8 = 10;

impl<T: PartialOrd + Copy + From<u8> + Div<Output = T>> Interval<T> {
    /// Returns true if the interval is informative: its bounds are equal, or positive and within an
    /// order of magnitude.
    pub fn is_telling(&self) -> bool {
        self.low == self.high || self.high / T::from(APART) < self.low
    }
}

/// Quotients for dependent and for independent errors.
impl Interval<f64> {
    /// Quotient of values with possibly dependent errors: the widest possible interval.
    #[must_use]
    pub fn over(&self, by: &Self) -> Self {
        Self { value: self.value / by.value, low: self.low / by.high, high: self.high / by.low }
    }

    /// Quotient of independently measured values: squares of the relative errors add up.
    #[must_use]
    pub fn over_independent(&self, by: &Self) -> Self {
        let value = self.value / by.value;
        let reach = |up: f64, down: f64| (up / self.value).hypot(down / by.value);
        let low = reach(self.value - self.low, by.high - by.value);
        let high = reach(self.high - self.value, by.value - by.low);
        Self { value, low: value * (1.0 - low).max(0.0), high: value * (1.0 + high) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_at_zero_or_far_apart_are_not_informative() {
        assert!(Interval { value: 5.0, low: 1.1, high: 10.0 }.is_telling());
        assert!(!Interval { value: 5.0, low: 1.0, high: 10.0 }.is_telling());
        assert!(!Interval { value: 1023.0, low: 0.0, high: 2928.0 }.is_telling());
        assert!(!Interval { value: 1.0, low: -1.0, high: 2.0 }.is_telling());
        assert!(!Interval { value: 4_u32, low: 2, high: 128 }.is_telling());
        assert!(!Interval { value: 64_u64, low: 32, high: u64::MAX }.is_telling(), "nothing overflows");
        assert!(Interval { value: 64_u32, low: 32, high: 256 }.is_telling());
        assert!(Interval::exact(0.0).is_telling(), "an exact zero is informative");
    }

    #[test]
    fn a_quotient_of_independent_values_is_narrower() {
        let of = Interval { value: 10.0, low: 8.0, high: 12.0 };
        let by = Interval { value: 2.0, low: 1.0, high: 4.0 };
        assert_eq!(of.over(&by), Interval { value: 5.0, low: 2.0, high: 12.0 });
        let twice = of.over_independent(&Interval::exact(5.0));
        assert!((twice.value - 2.0).abs() < 1e-9 && (twice.high - 2.4).abs() < 1e-9, "{twice:?}");
        let apart = of.over_independent(&Interval { value: 5.0, low: 4.0, high: 6.0 });
        assert!((apart.high - 2.0 * (1.0 + 0.08_f64.sqrt())).abs() < 1e-9, "{apart:?}");
    }
}
