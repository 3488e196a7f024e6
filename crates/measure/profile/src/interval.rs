use std::ops::Div;

use serde::{Deserialize, Serialize};

/// A value with the interval that the measurement supports.
///
/// `low` and `high` bound 95 % of the values that draws from the measured distributions give, unless the field that
/// holds the interval says otherwise; `value` lies within them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Interval<T> {
    /// The best estimate.
    pub value: T,
    /// The lower bound.
    pub low: T,
    /// The upper bound.
    pub high: T,
}

impl<T: PartialOrd + Copy> Interval<T> {
    /// An interval of one point: a value that is known, not estimated.
    pub fn exact(value: T) -> Self {
        Self { value, low: value, high: value }
    }

    /// Whether `other` lies within the bounds, both ends included.
    pub fn contains(&self, other: T) -> bool {
        self.low <= other && other <= self.high
    }
}

/// Bounds that are this many times apart, one by the other, say nothing of a value's size.
const APART: u8 = 10;

impl<T: PartialOrd + Copy + From<u8> + Div<Output = T>> Interval<T> {
    /// Whether the bounds say something of the value's size: they are equal, or above zero and within an order of
    /// magnitude.
    pub fn is_telling(&self) -> bool {
        self.low == self.high || self.high / T::from(APART) < self.low
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_that_reach_zero_or_are_far_apart_tell_nothing() {
        assert!(Interval { value: 5.0, low: 1.1, high: 10.0 }.is_telling());
        assert!(!Interval { value: 5.0, low: 1.0, high: 10.0 }.is_telling());
        assert!(!Interval { value: 1023.0, low: 0.0, high: 2928.0 }.is_telling());
        assert!(!Interval { value: 1.0, low: -1.0, high: 2.0 }.is_telling());
        assert!(!Interval { value: 4_u32, low: 2, high: 128 }.is_telling());
        assert!(!Interval { value: 64_u64, low: 32, high: u64::MAX }.is_telling(), "nothing overflows");
        assert!(Interval { value: 64_u32, low: 32, high: 256 }.is_telling());
        assert!(Interval::exact(0.0).is_telling(), "what is known to be nothing is known");
    }
}
