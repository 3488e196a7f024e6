use std::ops::{Add, AddAssign, Mul};

use serde::{Deserialize, Serialize};

/// A figure with the bounds that its measurement supports.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// Best estimate.
    pub value: f64,
    /// Lower bound.
    pub low: f64,
    /// Upper bound.
    pub high: f64,
}

impl Estimate {
    /// Creates an exact figure.
    pub const fn exact(value: f64) -> Self {
        Self { value, low: value, high: value }
    }

    /// Returns true if `other` lies within the bounds.
    pub fn contains(&self, other: f64) -> bool {
        self.low <= other && other <= self.high
    }

    /// Maps the value and both bounds by a monotonic function.
    #[must_use]
    pub fn map(self, mut function: impl FnMut(f64) -> f64) -> Self {
        Self { value: function(self.value), low: function(self.low), high: function(self.high) }
    }

    /// Returns the maximum of two estimates, figure by figure.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        self.with(other, f64::max)
    }

    fn with(self, other: Self, function: impl Fn(f64, f64) -> f64) -> Self {
        Self {
            value: function(self.value, other.value),
            low: function(self.low, other.low),
            high: function(self.high, other.high),
        }
    }
}

impl Add for Estimate {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        self.with(other, f64::add)
    }
}

impl AddAssign for Estimate {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Mul<f64> for Estimate {
    type Output = Self;

    fn mul(self, factor: f64) -> Self {
        self.map(|figure| figure * factor)
    }
}
