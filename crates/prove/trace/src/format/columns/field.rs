/// Parses a whole number of units.
pub(super) fn whole(text: &str, unit: u32, what: &str) -> Result<u64, String> {
    let count: u64 = text.parse().map_err(|_| format!("{what} should be a whole number and is {text:?}"))?;
    count.checked_mul(unit.into()).ok_or_else(|| format!("{what} is beyond any device: {text}"))
}

/// Parses a number of units, with or without decimals, as nanoseconds.
pub(super) fn decimal(text: &str, unit_ns: u32, what: &str) -> Result<u128, String> {
    /// Further decimals are below a nanosecond.
    const DECIMALS_MAX: usize = 18;
    let wrong = || format!("{what} should be a number of at least 0 and is {text:?}");
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_digits(whole) || !(is_digits(part) || part.is_empty()) {
        return Err(wrong());
    }
    let part = part.get(..DECIMALS_MAX).unwrap_or(part);
    let scale = 10_u128.pow(u32::try_from(part.len()).map_err(|_| wrong())?);
    let whole: u64 = whole.parse().map_err(|_| wrong())?;
    let part: u128 = if part.is_empty() { 0 } else { part.parse().map_err(|_| wrong())? };
    Ok(u128::from(whole) * u128::from(unit_ns) + part * u128::from(unit_ns) / scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_exact() {
        let of = |text, unit_ns| decimal(text, unit_ns, "the time");
        assert_eq!(of("1455592200.005033001", 1_000_000_000), Ok(1_455_592_200_005_033_001));
        assert_eq!(of("0.026214", 1_000_000), Ok(26_214));
        assert_eq!(of("7.", 1000), Ok(7000));
        assert_eq!(of("128166372003061629", 100), Ok(12_816_637_200_306_162_900));
        for text in ["", ".", "-1", "1e3", "NaN", "1.2.3", "99999999999999999999"] {
            assert!(of(text, 1).is_err(), "{text}");
        }
    }
}
