//! Amounts in the form of command lines.

use crate::Outcome;

/// Parses a count: `10M` is ten million, `200k` two hundred thousand.
pub(super) fn count(text: &str) -> Outcome<u64> {
    scaled(text, &[("M", 1_000_000), ("k", 1_000), ("", 1)], "10M, 200k or 1000")
}

/// Parses a size such as `2GiB` or `512MiB`.
pub(super) fn bytes(text: &str) -> Outcome<u64> {
    scaled(text, &[("GiB", 1 << 30), ("MiB", 1 << 20)], "2GiB or 512MiB")
}

fn scaled(text: &str, units: &[(&str, u64)], examples: &str) -> Outcome<u64> {
    let parse = |(unit, size): &(&str, u64)| text.strip_suffix(unit)?.parse::<u64>().ok()?.checked_mul(*size);
    units.iter().find_map(parse).ok_or_else(|| format!("{text:?} is no amount such as {examples}").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_read() {
        assert_eq!((count("2M").unwrap(), count("7k").unwrap(), count("5").unwrap()), (2_000_000, 7_000, 5));
        assert_eq!((bytes("2GiB").unwrap(), bytes("256MiB").unwrap()), (2 << 30, 256 << 20));
        for wrong in ["", "M", "-1", "1.5M", "99999999999999999999"] {
            assert!(count(wrong).is_err() && bytes(wrong).is_err(), "{wrong}");
        }
        assert!(bytes("512").is_err());
    }
}
