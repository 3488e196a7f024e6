//! Encodes decimal numbers of any length as bytes that sort by `memcmp`.

use nandle_spill::keys::{KeyWriter, Order};

/// Writes the number at the start of a field, as `sort -n` reads it in the C locale: white space,
/// an optional minus, digits, an optional point with more digits. Anything else is 0.
///
/// ```text
/// byte    0 negative, 1 zero, 2 positive
/// u32     digits before the point, without leading zeros
///         digits without trailing zeros, then a zero byte; all inverted for a negative number
/// ```
pub(crate) fn write_number(field: &[u8], order: Order, key: &mut KeyWriter) {
    let text = without_first_blanks(field);
    let (is_negative, text) = match text.split_first() {
        Some((b'-', rest)) => (true, rest),
        _ => (false, text),
    };
    let (whole, behind) = digits(text);
    let part = match behind.split_first() {
        Some((b'.', rest)) => digits(rest).0,
        _ => &[],
    };
    let whole = without_first_zeros(whole);
    let significant = whole.iter().chain(part);
    let zeros_behind = significant.clone().rev().take_while(|digit| **digit == b'0').count();
    let length = whole.len() + part.len() - zeros_behind;
    if length == 0 {
        return key.raw(&[1], order);
    }
    let mut bytes = vec![2];
    bytes.extend_from_slice(&u32::try_from(whole.len()).unwrap_or(u32::MAX).to_be_bytes());
    bytes.extend(significant.take(length));
    bytes.push(0);
    if is_negative {
        for byte in bytes.iter_mut().skip(1) {
            *byte = !*byte;
        }
        if let Some(sign) = bytes.first_mut() {
            *sign = 0;
        }
    }
    key.raw(&bytes, order);
}

fn digits(text: &[u8]) -> (&[u8], &[u8]) {
    text.split_at(text.iter().take_while(|byte| byte.is_ascii_digit()).count())
}

/// Carriage return and form feed don't count as blanks here.
fn without_first_blanks(field: &[u8]) -> &[u8] {
    let blanks = field.iter().take_while(|byte| matches!(**byte, b' ' | b'\t' | b'\n')).count();
    field.get(blanks..).unwrap_or_default()
}

fn without_first_zeros(digits: &[u8]) -> &[u8] {
    let zeros = digits.iter().take_while(|digit| **digit == b'0').count();
    digits.get(zeros..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str) -> Vec<u8> {
        let mut key = KeyWriter::default();
        write_number(text.as_bytes(), Order::Ascending, &mut key);
        key.into_bytes()
    }

    #[test]
    fn numbers_are_in_their_order() {
        let ascending = [
            "-1000000000000000000000000",
            "-100.5",
            "-100",
            "-99",
            "-1.25",
            "-1.2",
            "-0.5",
            "-0.05",
            "0",
            "0.001",
            "0.01",
            "0.5",
            "1",
            "1.2",
            "1.25",
            "9",
            "10",
            "10.1",
            "99",
            "100",
            "123456789012345678901234567890",
        ];
        assert!(ascending.map(key).is_sorted_by(|one, other| one < other));
    }

    #[test]
    fn only_blanks_and_line_ends_stand_in_front_of_a_number() {
        for blank in [" 5", "\t5", " \t\n 5"] {
            assert_eq!(key(blank), key("5"), "{blank:?}");
        }
        for other in ["\r5", "\x0C5", "\x0B5", " \r5", "\x005", "\u{a0}5", "- 5"] {
            assert_eq!(key(other), key("0"), "{other:?}");
        }
    }

    #[test]
    fn the_same_number_has_one_key() {
        for (one, other) in [
            ("1", " 001.00"),
            ("-0", "x"),
            ("", "0"),
            ("5 apples", "5"),
            ("-.5", "-0.50"),
            ("1e3", "1"),
            ("+5", "0"),
        ] {
            assert_eq!(key(one), key(other), "{one} {other}");
        }
    }
}
