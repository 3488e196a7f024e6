use super::number::{multiply, split_number, with_decimals};
use crate::UnitError;

/// Units in descending order. A size is printed in the first that fits.
const UNITS: [(&str, u64); 6] =
    [("PiB", 1 << 50), ("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1)];

const EXPECTED: &str = "a size such as 4096, 4KiB, 64MiB or 1.5GiB (4K means 4KiB)";

/// Parses a size in bytes: `4KiB`, `4K`, `4k`, `64MiB`, `1.5GiB`, `4096B`, `4096`. Units are powers
/// of 1024; fractions of a byte are dropped.
///
/// # Errors
/// The text isn't a size, or exceeds 64 bits. A decimal unit such as `4KB` is refused because it is
/// ambiguous.
pub fn parse_bytes(text: &str) -> Result<u64, UnitError> {
    let fail = |why| UnitError { text: text.into(), why, expected: EXPECTED };
    let (number, unit) = split_number(text.trim());
    if number.is_empty() {
        return Err(fail("doesn't begin with a number"));
    }
    let unit =
        unit_bytes(unit.trim_start()).ok_or_else(|| fail("has no known unit (they are powers of 1024)"))?;
    multiply(number, unit).ok_or_else(|| fail("is not a size"))?.map_err(|_| fail("is beyond 64 bits"))
}

fn unit_bytes(name: &str) -> Option<u64> {
    if name.is_empty() {
        return Some(1);
    }
    let matches = |unit: &str| {
        unit.eq_ignore_ascii_case(name)
            || (name.len() == 1 && unit.get(..1).is_some_and(|first| first.eq_ignore_ascii_case(name)))
    };
    UNITS.iter().find(|(unit, _)| matches(unit)).map(|(_, bytes)| *bytes)
}

/// Formats a size for display: exactly if its largest unit divides it (`64MiB`), else with one or
/// two decimals (`1.5GiB`, `3.91KiB`).
pub fn format_bytes(bytes: u64) -> String {
    let (name, unit) = UNITS.into_iter().find(|(_, unit)| bytes >= *unit).unwrap_or(("B", 1));
    if bytes.is_multiple_of(unit) {
        format!("{}{name}", bytes / unit)
    } else {
        format!("{}{name}", with_decimals(bytes, unit))
    }
}

/// Formats a size in the largest unit that divides it, so that [`parse_bytes`] returns the same
/// number.
pub fn format_bytes_exact(bytes: u64) -> String {
    let divides = |unit: u64| bytes >= unit && bytes.is_multiple_of(unit);
    let (name, unit) = UNITS.into_iter().find(|(_, unit)| divides(*unit)).unwrap_or(("B", 1));
    format!("{}{name}", bytes / unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_in_every_usual_spelling() {
        for (text, bytes) in [
            ("0", 0),
            ("4096", 4096),
            ("4096B", 4096),
            ("4K", 4096),
            ("4k", 4096),
            ("4KiB", 4096),
            ("4 kib", 4096),
            ("64MiB", 64 << 20),
            ("4G", 4 << 30),
            ("1.5GiB", 3 << 29),
            ("0.5KiB", 512),
            ("2T", 2 << 40),
        ] {
            assert_eq!(parse_bytes(text), Ok(bytes), "{text}");
        }
    }

    #[test]
    fn invalid_sizes_are_refused_with_an_example() {
        for text in ["", "KiB", "-4K", "4KB", "4X", "4.K", ".5K", "1.2.3K", "1e9", "4KiBs", "99999999999P"] {
            let error = parse_bytes(text).unwrap_err().to_string();
            assert!(error.contains("64MiB"), "{text}: {error}");
        }
    }

    #[test]
    fn a_word_without_a_number_is_reported_as_such() {
        for text in ["x", "KiB", "", "-4K"] {
            let error = parse_bytes(text).unwrap_err().to_string();
            assert!(error.contains("doesn't begin with a number"), "{text}: {error}");
        }
        let unknown = parse_bytes("10TB").unwrap_err().to_string();
        assert!(
            unknown.starts_with("\"10TB\" has no known unit (they are powers of 1024); expected"),
            "{unknown}"
        );
    }

    #[test]
    fn sizes_print_exactly_where_a_unit_divides_them() {
        for (bytes, text) in [
            (0, "0B"),
            (512, "512B"),
            (4096, "4KiB"),
            (64 << 20, "64MiB"),
            (3 << 29, "1.5GiB"),
            (4000, "3.91KiB"),
            (4095, "4.0KiB"),
        ] {
            assert_eq!(format_bytes(bytes), text);
        }
    }

    proptest::proptest! {
        #[test]
        fn exact_sizes_read_back(bytes: u64) {
            proptest::prop_assert_eq!(parse_bytes(&format_bytes_exact(bytes)), Ok(bytes));
        }

        #[test]
        fn no_text_makes_it_panic(text: String) {
            let _ = parse_bytes(&text);
        }
    }
}
