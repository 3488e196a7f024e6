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
