use nandle_profile::Interval;

use super::quantity::Quantity;

/// A bandwidth with its interval: `3.21 GB/s (3.15–3.27)`.
pub(crate) fn bandwidth(interval: &Interval<f64>) -> String {
    with_bounds(interval, |value| Quantity::bandwidth(*value))
}

/// Requests by second with their interval.
pub(crate) fn iops(interval: &Interval<f64>) -> String {
    with_bounds(interval, |value| Quantity::bare(*value))
}

/// A ratio as a factor with its interval.
pub(crate) fn factor(interval: &Interval<f64>) -> String {
    with_bounds(interval, |value| Quantity::bare(*value))
}

/// A block size with its interval.
pub(crate) fn size(interval: &Interval<u64>) -> String {
    with_bounds(interval, |value| Quantity::size(*value))
}

/// A queue depth with its interval.
pub(crate) fn depth(interval: &Interval<u32>) -> String {
    with_bounds(interval, |value| plain(u64::from(*value)))
}

/// A number of blocks with its interval.
pub(crate) fn count(interval: &Interval<u64>) -> String {
    with_bounds(interval, |value| plain(*value))
}

/// A time in its best unit.
pub(crate) fn time_ns(time_ns: u64) -> String {
    Quantity::time_ns(time_ns as f64).to_string()
}

/// A whole number, unrounded.
pub(crate) fn plain(number: u64) -> Quantity {
    Quantity { number: super::grouped(&number.to_string()), unit: "" }
}

/// The unit once when all three share it; no bounds when they would read the same as the value.
fn with_bounds<T>(interval: &Interval<T>, quantity: impl Fn(&T) -> Quantity) -> String {
    let (value, low, high) = (quantity(&interval.value), quantity(&interval.low), quantity(&interval.high));
    if low == value && high == value {
        value.to_string()
    } else if low.unit == value.unit && high.unit == value.unit && value.unit.starts_with('\u{a0}') {
        format!("{value} ({}–{})", low.number, high.number)
    } else {
        format!("{value} ({low}–{high})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_names_its_unit_once_where_it_can() {
        let around = Interval { value: 3.2e9, low: 3.1e9, high: 3.3e9 };
        assert_eq!(bandwidth(&around), "3.20\u{a0}GB/s (3.10–3.30)");
        let across = Interval { value: 1.0e9, low: 9.0e8, high: 1.1e9 };
        assert_eq!(bandwidth(&across), "1.00\u{a0}GB/s (900\u{a0}MB/s–1.10\u{a0}GB/s)");
        assert_eq!(size(&Interval { value: 32 << 10, low: 16 << 10, high: 32 << 10 }), "32KiB (16KiB–32KiB)");
        assert_eq!(depth(&Interval::exact(8)), "8");
    }
}
