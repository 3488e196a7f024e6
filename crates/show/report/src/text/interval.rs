use std::ops::Div;

use nandle_profile::Interval;

use super::quantity::Quantity;

/// Replaces bounds that carry no information.
const UNCLEAR: &str = "unclear";

/// Formats a bandwidth with its interval: `3.21 GB/s (3.15–3.27)`.
pub(crate) fn bandwidth(interval: &Interval<f64>) -> String {
    with_bounds(interval, Quantity::bandwidth)
}

/// Formats a time with its interval: `125 µs (88.6 µs–158 µs)`.
pub(crate) fn time(interval: &Interval<f64>) -> String {
    with_bounds(interval, Quantity::time_ns)
}

/// Formats requests per second with their interval.
pub(crate) fn iops(interval: &Interval<f64>) -> String {
    with_bounds(interval, Quantity::bare)
}

/// Formats a ratio as a factor with its interval.
pub(crate) fn factor(interval: &Interval<f64>) -> String {
    with_bounds(interval, Quantity::bare)
}

/// Formats a block size with its interval.
pub(crate) fn size(interval: &Interval<u64>) -> String {
    with_bounds(interval, Quantity::size)
}

/// Formats a queue depth with its interval.
pub(crate) fn depth(interval: &Interval<u32>) -> String {
    with_bounds(interval, |value| plain(u64::from(value)))
}

/// Formats a number of blocks with its interval.
pub(crate) fn count(interval: &Interval<u64>) -> String {
    with_bounds(interval, plain)
}

/// Formats a time in its best unit.
pub(crate) fn time_ns(time_ns: u64) -> String {
    Quantity::time_ns(time_ns as f64).to_string()
}

/// Whole number without rounding.
pub(crate) fn plain(number: u64) -> Quantity {
    Quantity { number: super::grouped(&number.to_string()), unit: "" }
}

/// Formats a value followed by its bounds.
fn with_bounds<T: Bound>(interval: &Interval<T>, quantity: impl Fn(T) -> Quantity) -> String {
    let value = quantity(interval.value);
    let bounds = bounds(interval, &quantity).map(|bounds| format!(" ({bounds})"));
    format!("{value}{}", bounds.unwrap_or_default())
}

/// Number type of bounds.
pub(crate) trait Bound: PartialOrd + Copy + From<u8> + Div<Output = Self> {}

impl<T: PartialOrd + Copy + From<u8> + Div<Output = T>> Bound for T {}

/// Formats the bounds alone: `3.15–3.27`, with units if they differ from the value's, or
/// [`UNCLEAR`] if they carry no information. `None` if they print like the value.
pub(crate) fn bounds<T: Bound>(interval: &Interval<T>, quantity: impl Fn(T) -> Quantity) -> Option<String> {
    let [value, low, high] = [interval.value, interval.low, interval.high].map(quantity);
    if low == value && high == value {
        None
    } else if !interval.is_telling() {
        Some(UNCLEAR.to_owned())
    } else if low.unit == value.unit && high.unit == value.unit && value.unit.starts_with('\u{a0}') {
        Some(format!("{}–{}", low.number, high.number))
    } else {
        Some(format!("{low}–{high}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uninformative_bounds_are_not_printed() {
        let nothing = Interval { value: 1.023e9, low: 0.0, high: 2.928e9 };
        assert_eq!(bandwidth(&nothing), "1.02\u{a0}GB/s (unclear)");
        assert_eq!(depth(&Interval { value: 4, low: 2, high: 128 }), "4 (unclear)");
        assert_eq!(factor(&Interval::exact(0.0)), "0");
    }

    #[test]
    fn interval_prints_a_common_unit_once() {
        let around = Interval { value: 3.2e9, low: 3.1e9, high: 3.3e9 };
        assert_eq!(bandwidth(&around), "3.20\u{a0}GB/s (3.10–3.30)");
        let across = Interval { value: 1.0e9, low: 9.0e8, high: 1.1e9 };
        assert_eq!(bandwidth(&across), "1.00\u{a0}GB/s (900\u{a0}MB/s–1.10\u{a0}GB/s)");
        assert_eq!(size(&Interval { value: 32 << 10, low: 16 << 10, high: 32 << 10 }), "32KiB (16KiB–32KiB)");
        assert_eq!(depth(&Interval::exact(8)), "8");
    }
}
