//! Formats figures as the advice prints them.

use nandle_profile::Interval;
use nandle_units::{Nanos, format_bytes, format_duration, thousands};

/// Nearest whole number; 0 for negative numbers and NaN.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast keeps to the bounds of u64"
)]
pub(crate) fn whole(value: f64) -> u64 {
    value.round() as u64
}

/// Formats a number with three significant digits.
pub(crate) fn number(value: f64) -> String {
    /// No measured value needs more decimal places.
    const MOST_PLACES: usize = 12;
    let magnitude = value.abs();
    if magnitude >= 100.0 || value == 0.0 {
        return thousands(value);
    }
    let (mut places, mut leading) = (1, magnitude);
    while leading < 10.0 && places < MOST_PLACES {
        leading *= 10.0;
        places += 1;
    }
    trimmed(&format!("{value:.places$}"))
}

fn trimmed(text: &str) -> String {
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Formats a bandwidth in MB/s.
pub(crate) fn bandwidth(bytes_per_s: f64) -> String {
    format!("{} MB/s", number(bytes_per_s / 1e6))
}

/// Formats a time with three significant digits.
pub(crate) fn time(ns: f64) -> String {
    let [value, unit] = match ns {
        ns if ns < 1e3 => [number(ns), "ns".into()],
        ns if ns < 1e6 => [number(ns / 1e3), "us".into()],
        ns if ns < 1e9 => [number(ns / 1e6), "ms".into()],
        ns if ns < 1e11 => [number(ns / 1e9), "s".into()],
        ns => return format_duration(Nanos(whole(ns / 1e9).saturating_mul(1_000_000_000))),
    };
    format!("{value} {unit}")
}

/// Formats a size.
pub(crate) fn bytes(value: f64) -> String {
    format_bytes(whole(value))
}

/// Capitalises the first letter.
pub(crate) fn capitalised(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Ratio of the bounds above which they carry no information and are printed without digits.
pub(crate) const UNCLEAR_SPREAD: f64 = 100.0;

/// Formats `8 (4–16)` or `392 (385–402) MB/s`. Prints the value alone if the bounds print the same.
pub(crate) fn bounded(interval: &Interval<f64>, print: impl Fn(f64) -> String) -> String {
    let value = print(interval.value);
    let Some(bounds) = bounds(interval, &print) else { return value };
    let (digits, unit) = apart(&value);
    let has_unit = !bounds.ends_with(|end: char| end.is_ascii_digit());
    if has_unit { format!("{value} ({bounds})") } else { format!("{digits} ({bounds}){unit}") }
}

/// Formats the bounds alone: `385–402`, `4KiB–16KiB`, `at least 630`. Leaves out a unit that value
/// and bounds share and that is separated from the number. Returns `None` if the bounds print like
/// the value.
pub(crate) fn bounds(interval: &Interval<f64>, print: impl Fn(f64) -> String) -> Option<String> {
    let [value, low, high] = [interval.value, interval.low, interval.high].map(print);
    if low == value && high == value {
        return None;
    }
    if interval.low > 0.0 && interval.high.is_finite() && interval.high / interval.low > UNCLEAR_SPREAD {
        return Some("unclear".to_owned());
    }
    let unit = apart(&value).1;
    let is_common = interval.high.is_finite()
        && unit.starts_with([' ', '/'])
        && [&low, &high].iter().all(|bound| apart(bound).1 == unit);
    let [low, high] = [&low, &high].map(|bound| if is_common { apart(bound).0 } else { bound });
    Some(if interval.high.is_finite() { format!("{low}–{high}") } else { format!("at least {low}") })
}

/// Splits a printed figure into its digits and the rest.
fn apart(printed: &str) -> (&str, &str) {
    let end = printed.rfind(|letter: char| letter.is_ascii_digit()).map_or(0, |last| last + 1);
    printed.split_at_checked(end).unwrap_or((printed, ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_three_digits() {
        assert_eq!(number(0.0314), "0.0314");
        assert_eq!(number(0.000_309_7), "0.00031", "a drive that feeds a processor's thousandth");
        assert_eq!((number(0.0), number(99.96), number(9.994)), ("0".into(), "100".into(), "9.99".into()));
        assert_eq!(number(1.5), "1.5");
        assert_eq!(number(20.0), "20");
        assert_eq!(number(1_234_567.8), "1 234 568");
        assert_eq!(number(-1234.0), "-1 234");
        assert_eq!(time(81_500.0), "81.5 us");
        assert_eq!(bandwidth(2.5e8), "250 MB/s");
    }

    #[test]
    fn bounds_share_the_unit_of_their_value() {
        let interval = |value, low, high| Interval { value, low, high };
        let rate = |value, low, high| bounded(&interval(value, low, high), bandwidth);
        assert_eq!(rate(392e6, 385e6, 402e6), "392 (385–402) MB/s");
        assert_eq!(rate(392e6, 392e6, 392e6), "392 MB/s");
        let size = bounded(&interval(8192.0, 4096.0, 16_384.0), bytes);
        assert_eq!(size, "8KiB (4KiB–16KiB)");
        let time = bounded(&interval(2e6, 250e3, 2e6), time);
        assert_eq!(time, "2 ms (250 us–2 ms)");
        assert_eq!(bounded(&interval(8.0, 4.0, 16.0), number), "8 (4–16)");
    }

    #[test]
    fn uninformative_bounds_print_no_digits() {
        let interval = Interval { value: 2485e6, low: 0.66e6, high: 9.4e12 };
        assert_eq!(bounded(&interval, bandwidth), "2 485 MB/s (unclear)");
        assert_eq!(bounded(&Interval { value: 8.0, low: 0.01, high: 16.0 }, number), "8 (unclear)");
    }

    /// The lower bound of the request time may be 0.
    #[test]
    fn infinite_upper_bound_is_not_printed() {
        let interval = Interval { value: 3355e6, low: 630e6, high: f64::INFINITY };
        assert_eq!(bounded(&interval, bandwidth), "3 355 MB/s (at least 630 MB/s)");
        let long = Interval { value: 2e6, low: 1e6, high: f64::INFINITY };
        assert_eq!(bounded(&long, time), "2 ms (at least 1 ms)");
        assert_eq!(bounded(&interval, bytes), "3.12GiB (at least 600.81MiB)");
    }
}
