//! Arithmetic with intervals.

use crate::Interval;

/// Converts the bounds to `f64`.
pub fn widen<T: Copy + Into<f64>>(interval: &Interval<T>) -> Interval<f64> {
    Interval { value: interval.value.into(), low: interval.low.into(), high: interval.high.into() }
}

/// Converts a size in bytes to `f64`.
pub fn of_bytes(interval: &Interval<u64>) -> Interval<f64> {
    Interval { value: interval.value as f64, low: interval.low as f64, high: interval.high as f64 }
}

/// Applies a non-decreasing function.
pub fn map(interval: &Interval<f64>, rising: impl Fn(f64) -> f64) -> Interval<f64> {
    let [value, low, high] = [interval.value, interval.low, interval.high].map(rising);
    Interval { value, low, high }
}

/// Applies a non-increasing function, which swaps the bounds.
pub fn map_falling(interval: &Interval<f64>, falling: impl Fn(f64) -> f64) -> Interval<f64> {
    let [value, low, high] = [interval.value, interval.high, interval.low].map(falling);
    Interval { value, low, high }
}

/// Sum of two intervals.
pub fn sum(one: &Interval<f64>, other: &Interval<f64>) -> Interval<f64> {
    Interval { value: one.value + other.value, low: one.low + other.low, high: one.high + other.high }
}

/// Product of two intervals.
pub fn product(one: &Interval<f64>, other: &Interval<f64>) -> Interval<f64> {
    Interval { value: one.value * other.value, low: one.low * other.low, high: one.high * other.high }
}

/// `scale / interval`: converts a time to a rate, or a rate to a time.
pub fn inverse(scale: f64, interval: &Interval<f64>) -> Interval<f64> {
    Interval { value: scale / interval.value, low: scale / interval.high, high: scale / interval.low }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bounds_of_a_divisor_swap() {
        let of = Interval { value: 10.0, low: 8.0, high: 12.0 };
        let by = Interval { value: 2.0, low: 1.0, high: 4.0 };
        assert_eq!(inverse(8.0, &by), Interval { value: 4.0, low: 2.0, high: 8.0 });
        assert_eq!(product(&of, &by), Interval { value: 20.0, low: 8.0, high: 48.0 });
    }
}
