//! Figures as the advice prints them.

use nandle_io::Nanos;
use nandle_io::units::{format_bytes, format_duration};
use nandle_profile::Interval;

/// The nearest whole number; 0 for what is below, or no number.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast keeps to the bounds of u64"
)]
pub(crate) fn whole(value: f64) -> u64 {
    value.round() as u64
}

/// A number to three digits.
pub(crate) fn number(value: f64) -> String {
    let magnitude = value.abs();
    if magnitude >= 100.0 || value == 0.0 {
        grouped(value)
    } else if magnitude >= 10.0 {
        trimmed(&format!("{value:.1}"))
    } else if magnitude >= 1.0 {
        trimmed(&format!("{value:.2}"))
    } else {
        trimmed(&format!("{value:.3}"))
    }
}

fn trimmed(text: &str) -> String {
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A whole number with its thousands apart.
fn grouped(value: f64) -> String {
    let digits = format!("{value:.0}");
    let places = digits.len();
    let apart = |(index, digit): (usize, char)| {
        let blank = index > 0 && (places - index).is_multiple_of(3) && digit.is_ascii_digit();
        if blank { format!(" {digit}") } else { digit.to_string() }
    };
    digits.chars().enumerate().map(apart).collect()
}

/// Bytes per second as MB/s.
pub(crate) fn bandwidth(bytes_per_s: f64) -> String {
    format!("{} MB/s", number(bytes_per_s / 1e6))
}

/// A time to three digits.
pub(crate) fn time(ns: f64) -> String {
    let [value, unit] = match ns {
        ns if ns < 1e3 => [number(ns), "ns".into()],
        ns if ns < 1e6 => [number(ns / 1e3), "us".into()],
        ns if ns < 1e9 => [number(ns / 1e6), "ms".into()],
        ns if ns < 1e11 => [number(ns / 1e9), "s".into()],
        ns => return format_duration(Nanos(whole(ns / 1e9) * 1_000_000_000)),
    };
    format!("{value} {unit}")
}

/// A size.
pub(crate) fn bytes(value: f64) -> String {
    format_bytes(whole(value))
}

/// `8 (4–16)`, or the value alone where the bounds print the same.
pub(crate) fn bounded(interval: &Interval<f64>, print: impl Fn(f64) -> String) -> String {
    let [value, low, high] = [interval.value, interval.low, interval.high].map(print);
    if low == value && high == value { value } else { format!("{value} ({low}–{high})") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_three_digits() {
        assert_eq!(number(0.0314), "0.031");
        assert_eq!(number(1.5), "1.5");
        assert_eq!(number(20.0), "20");
        assert_eq!(number(1_234_567.8), "1 234 568");
        assert_eq!(number(-1234.0), "-1 234");
        assert_eq!(time(81_500.0), "81.5 us");
        assert_eq!(bandwidth(2.5e8), "250 MB/s");
    }
}
