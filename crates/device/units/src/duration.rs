use crate::Nanos;

use super::number::{multiply, split_number, with_decimals};
use crate::UnitError;

const SECOND: u64 = 1_000_000_000;
const MINUTE: u64 = 60 * SECOND;
const HOUR: u64 = 60 * MINUTE;

const UNITS: [(&str, u64); 7] =
    [("h", HOUR), ("min", MINUTE), ("m", MINUTE), ("s", SECOND), ("ms", 1_000_000), ("us", 1000), ("ns", 1)];

const EXPECTED: &str = "a time with its unit, such as 250us, 3ms, 60s, 10m, 1m30s or 1h";

/// Parses a duration: `250us`, `3ms`, `1.5s`, `60s`, `2m`, `1m30s`, `1h`. A number without a unit
/// is refused, except for 0.
///
/// # Errors
/// The text isn't a duration, or exceeds 584 years.
pub fn parse_duration(text: &str) -> Result<Nanos, UnitError> {
    let fail = |why| UnitError { text: text.into(), why, expected: EXPECTED };
    let mut rest = text.trim();
    if rest == "0" {
        return Ok(Nanos::ZERO);
    }
    let mut total = 0_u64;
    loop {
        let (number, after) = split_number(rest);
        let end = after.find(|c: char| c.is_ascii_digit()).unwrap_or(after.len());
        let (unit, next) = after.split_at(end);
        let unit = unit_nanos(unit.trim()).ok_or_else(|| fail("has no unit of time that is known"))?;
        let span = multiply(number, unit).ok_or_else(|| fail("is not a time"))?;
        total = span.ok().and_then(|span| total.checked_add(span)).ok_or_else(|| fail("is too long"))?;
        if next.is_empty() {
            return Ok(Nanos(total));
        }
        rest = next;
    }
}

fn unit_nanos(name: &str) -> Option<u64> {
    let name = if name == "µs" { "us" } else { name };
    UNITS.iter().find(|(unit, _)| *unit == name).map(|(_, nanos)| *nanos)
}

/// Formats a duration for display: `250us`, `1.5s`; from one minute on in whole seconds (`1m30s`,
/// `1h5m`).
pub fn format_duration(span: Nanos) -> String {
    // If two decimals would round up to the next unit, that unit is used: 1ms, not 1000.0us.
    let reaches = |unit: u64, decimal: u64| span.0.saturating_add(decimal / 200) >= unit;
    if reaches(MINUTE, SECOND) {
        return format_long(span.0.saturating_add(SECOND / 2) / SECOND);
    }
    let mut below_a_minute = UNITS.into_iter().filter(|(_, unit)| *unit < MINUTE);
    let (name, unit) = below_a_minute.find(|(_, unit)| reaches(*unit, unit / 1000)).unwrap_or(("s", SECOND));
    if span.0.is_multiple_of(unit) || span.0 < unit {
        format!("{}{name}", span.0.div_ceil(unit))
    } else {
        format!("{}{name}", with_decimals(span.0, unit))
    }
}

fn format_long(seconds: u64) -> String {
    let parts = [(seconds / 3600, "h"), (seconds / 60 % 60, "m"), (seconds % 60, "s")];
    parts.into_iter().filter(|(count, _)| *count > 0).map(|(count, unit)| format!("{count}{unit}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_with_their_unit() {
        for (text, nanos) in [
            ("0", 0),
            ("0s", 0),
            ("17ns", 17),
            ("250us", 250_000),
            ("250µs", 250_000),
            ("3ms", 3_000_000),
            ("1.5s", 1_500_000_000),
            ("60s", MINUTE),
            ("2m", 2 * MINUTE),
            ("2min", 2 * MINUTE),
            ("1m30s", 90 * SECOND),
            ("1h", HOUR),
        ] {
            assert_eq!(parse_duration(text), Ok(Nanos(nanos)), "{text}");
        }
    }

    #[test]
    fn invalid_times_are_refused_with_an_example() {
        for text in ["", "60", "s", "-1s", "1d", "1m30", "1..5s", "999999999h", "1 fortnight"] {
            let error = parse_duration(text).unwrap_err().to_string();
            assert!(error.contains("250us"), "{text}: {error}");
        }
    }

    #[test]
    fn times_print_in_readable_units() {
        for (nanos, text) in [
            (0, "0s"),
            (17, "17ns"),
            (250_000, "250us"),
            (1_234_567, "1.23ms"),
            (999_400, "999.4us"),
            (999_996, "1ms"),
            (999_999_999, "1s"),
            (1_500_000_000, "1.5s"),
            (MINUTE - SECOND / 100, "59.99s"),
            (MINUTE - 1, "1m"),
            (MINUTE, "1m"),
            (90 * SECOND, "1m30s"),
            (HOUR + 5 * MINUTE, "1h5m"),
        ] {
            assert_eq!(format_duration(Nanos(nanos)), text);
        }
    }

    proptest::proptest! {
        #[test]
        fn whole_seconds_read_back(seconds in 0_u64..1_000_000) {
            let span = Nanos::from_secs(seconds);
            proptest::prop_assert_eq!(parse_duration(&format_duration(span)), Ok(span));
        }

        #[test]
        fn no_text_makes_it_panic(text: String) {
            let _ = parse_duration(&text);
        }
    }
}
