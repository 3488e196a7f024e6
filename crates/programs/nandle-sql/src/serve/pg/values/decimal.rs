//! Decimal numbers of any length.

use std::fmt;

use arrow_array::cast::AsArray as _;
use arrow_array::types::{Decimal128Type, Decimal256Type};
use arrow_array::{Array as _, ArrayRef};
use arrow_schema::DataType;
use bytes::{BufMut as _, BytesMut};

/// Decimal digits per digit of the binary form, whose base is 10 000.
const DIGITS_EACH: usize = 4;
const NEGATIVE: u16 = 0x4000;

/// Decimal digits of a number.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Decimal {
    is_negative: bool,
    /// Digits before the point, without leading zeros.
    whole: String,
    /// Digits after the point, as many as the scale.
    fraction: String,
}

impl Decimal {
    /// Number in a row; `None` for other types.
    pub(super) fn of(values: &ArrayRef, row: usize) -> Option<Self> {
        match values.data_type() {
            DataType::Decimal128(_, scale) => {
                Some(Self::new(&values.as_primitive::<Decimal128Type>().value(row).to_string(), *scale))
            }
            DataType::Decimal256(_, scale) => {
                Some(Self::new(&values.as_primitive::<Decimal256Type>().value(row).to_string(), *scale))
            }
            _ => None,
        }
    }

    /// Creates a number from an integer and its scale; a negative scale appends zeros.
    fn new(number: &str, scale: i8) -> Self {
        let digits = number.trim_start_matches('-');
        let is_negative = digits.len() < number.len();
        let behind = usize::try_from(scale).unwrap_or_default();
        let added = usize::from(if scale < 0 { scale.unsigned_abs() } else { 0 });
        let digits = format!("{digits:0>behind$}{}", "0".repeat(added));
        let (whole, fraction) = digits.split_at(digits.len() - behind);
        let whole = whole.trim_start_matches('0').to_owned();
        Self { is_negative, whole, fraction: fraction.to_owned() }
    }

    /// Appends the binary form: number of digits, weight of the first, sign, display scale, digits.
    pub(super) fn put(&self, bytes: &mut BytesMut) {
        let before = self.whole.len().div_ceil(DIGITS_EACH) * DIGITS_EACH;
        let behind = self.fraction.len().div_ceil(DIGITS_EACH) * DIGITS_EACH;
        let all = format!("{:0>before$}{:0<behind$}", self.whole, self.fraction);
        let digit =
            |letters: &[u8]| letters.iter().fold(0_u16, |sum, letter| sum * 10 + u16::from(letter - b'0'));
        let digits: Vec<u16> = all.as_bytes().chunks(DIGITS_EACH).map(digit).collect();
        let zeros = digits.iter().take_while(|digit| **digit == 0).count();
        let end = digits.iter().rposition(|digit| *digit != 0).map_or(zeros, |last| last + 1);
        let shown = digits.get(zeros..end).unwrap_or_default();
        let number = |count: usize| i16::try_from(count).unwrap_or(i16::MAX);
        let weight = if shown.is_empty() { 0 } else { number(before / DIGITS_EACH) - 1 - number(zeros) };
        bytes.put_i16(number(shown.len()));
        bytes.put_i16(weight);
        bytes.put_u16(if self.is_negative && !shown.is_empty() { NEGATIVE } else { 0 });
        bytes.put_i16(number(self.fraction.len()));
        for digit in shown {
            bytes.put_u16(*digit);
        }
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.is_negative { "-" } else { "" };
        let whole = if self.whole.is_empty() { "0" } else { &self.whole };
        write!(f, "{sign}{whole}")?;
        if self.fraction.is_empty() { Ok(()) } else { write!(f, ".{}", self.fraction) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_stand_where_the_scale_puts_them() {
        let text = |number: &str, scale| Decimal::new(number, scale).to_string();
        assert_eq!(text("1", 2), "0.01");
        assert_eq!(text("-1234567", 2), "-12345.67");
        assert_eq!(text("100", 2), "1.00");
        assert_eq!(text("7", -3), "7000");
        assert_eq!(text("0", 0), "0");
    }

    #[test]
    fn the_binary_form_is_postgresqls() {
        let binary = |number: &str, scale| {
            let mut bytes = BytesMut::new();
            Decimal::new(number, scale).put(&mut bytes);
            bytes.chunks(2).map(|pair| u16::from_be_bytes(pair.try_into().unwrap())).collect::<Vec<_>>()
        };
        assert_eq!(binary("0", 2), [0, 0, 0, 2]);
        assert_eq!(binary("1234567", 2), [3, 1, 0, 2, 1, 2345, 6700]);
        assert_eq!(binary("-1", 2), [1, u16::MAX, NEGATIVE, 2, 100]);
        assert_eq!(binary("10000", 0), [1, 1, 0, 0, 1]);
        assert_eq!(binary("1", 8), [1, 0xfffe, 0, 8, 1]);
    }
}
