//! Decimal numbers times a unit, in integers: a size must not depend on how a float rounds.

/// Digits after the point that are looked at; more of them could not matter.
const FRACTION_DIGITS_MAX: usize = 18;

/// Splits the number off the front: `1.5GiB` gives `1.5` and `GiB`.
pub(super) fn split_number(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    text.split_at(end)
}

/// A decimal number times `unit`, rounded down; `None` when it is no number, `Err` when it is too large.
pub(super) fn multiply(number: &str, unit: u64) -> Option<Result<u64, TooLarge>> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !digits(whole) || !digits(fraction) || number.ends_with('.') {
        return None;
    }
    let Ok(whole) = whole.parse::<u64>() else { return Some(Err(TooLarge)) };
    let fraction: String = fraction.chars().take(FRACTION_DIGITS_MAX).collect();
    let scale = 10_u128.pow(u32::try_from(fraction.len()).unwrap_or(0));
    let part = fraction.parse::<u128>().unwrap_or(0) * u128::from(unit) / scale;
    let total = u128::from(whole) * u128::from(unit) + part;
    Some(u64::try_from(total).map_err(|_| TooLarge))
}

/// The product does not fit 64 bits.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooLarge;

/// `value` in units, with at most two decimals and at least one, so that a reader sees that it was rounded.
pub(super) fn with_decimals(value: u64, unit: u64) -> String {
    let text = format!("{:.2}", value as f64 / unit as f64);
    text.strip_suffix('0').map(Into::into).unwrap_or(text)
}
