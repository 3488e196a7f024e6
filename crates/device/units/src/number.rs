//! Decimal numbers times a unit, in integer arithmetic, so that a size doesn't depend on rounding
//! of floats.

/// Most digits used after the point. More are never significant.
const FRACTION_DIGITS_MAX: usize = 18;

/// Splits off the leading number: `1.5GiB` gives `1.5` and `GiB`.
pub(super) fn split_number(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    text.split_at(end)
}

/// Decimal number times `unit`, rounded down; `None` if it isn't a number, `Err` if it is too
/// large.
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

/// The product doesn't fit into 64 bits.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooLarge;

/// `value` in units, with one or two decimals, which show that it was rounded.
pub(super) fn with_decimals(value: u64, unit: u64) -> String {
    let text = format!("{:.2}", value as f64 / unit as f64);
    text.strip_suffix('0').map(Into::into).unwrap_or(text)
}
