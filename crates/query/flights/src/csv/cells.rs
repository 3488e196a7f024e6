//! Parsers of cells.

/// Returns true for a missing value: empty, `NA`, or `\N` of a database dump.
pub(super) fn is_missing(cell: &[u8]) -> bool {
    matches!(cell, b"" | b"NA" | b"\\N")
}

/// Parses an integer, which the current publication writes with decimals (`-5.00`). `None` for
/// anything else.
pub(super) fn number(cell: &[u8]) -> Option<i32> {
    let (negative, digits) = match cell {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, cell),
    };
    let whole_length = digits.iter().position(|byte| *byte == b'.').unwrap_or(digits.len());
    let (whole, decimals) = digits.split_at_checked(whole_length)?;
    let has_fraction = decimals.iter().skip(1).any(|byte| *byte != b'0');
    if whole.is_empty() || whole.len() > 9 || has_fraction {
        return None;
    }
    let mut value = 0;
    for byte in whole {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value * 10 + i32::from(digit);
    }
    Some(if negative { -value } else { value })
}

/// Days since 1970-01-01 of a Gregorian date (Hinnant, *chrono-Compatible Low-Level Date
/// Algorithms*, `days_from_civil`). `None` if there is no such day.
pub(crate) fn days_since_1970(year: u16, month: u8, day: u8) -> Option<i32> {
    if day == 0 || day > days_of_month(year, month)? {
        return None;
    }
    let (year, month, day) = (i32::from(year), i32::from(month), i32::from(day));
    let march_year = if month <= 2 { year - 1 } else { year };
    let era = march_year.div_euclid(400);
    let year_of_era = march_year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    Some(era * 146_097 + day_of_era - 719_468)
}

/// Year, month and day of a number of days since 1970-01-01 (Hinnant, as above, `civil_from_days`).
pub(crate) fn civil(days_since_1970: i32) -> (i32, i32, i32) {
    let days = days_since_1970 + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    (year_of_era + era * 400 + i32::from(month <= 2), month, day)
}

/// Number of days in a month. `None` if there is no such month.
pub(crate) fn days_of_month(year: u16, month: u8) -> Option<u8> {
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => Some(31),
        4 | 6 | 9 | 11 => Some(30),
        2 => Some(if is_leap { 29 } else { 28 }),
        _ => None,
    }
}

/// Day of the week, 1 for Monday.
pub(crate) fn day_of_week(days_since_1970: i32) -> u8 {
    // 1970-01-01 was a Thursday.
    u8::try_from((days_since_1970 + 3).rem_euclid(7) + 1).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{civil, day_of_week, days_of_month, days_since_1970, number};

    #[test]
    fn numbers() {
        for (cell, value) in [("0", 0), ("-5.00", -5), ("+7", 7), ("0710", 710), ("1.", 1), ("-0", 0)] {
            assert_eq!(number(cell.as_bytes()), Some(value), "{cell}");
        }
        for cell in ["", "-", ".0", "1.5", "1e3", "NA", "12 ", "1234567890", "--1", "1.0.0", "²"] {
            assert_eq!(number(cell.as_bytes()), None, "{cell}");
        }
    }

    #[test]
    fn days() {
        assert_eq!(days_since_1970(1970, 1, 1), Some(0));
        assert_eq!(days_since_1970(2008, 2, 29), Some(13_938));
        assert_eq!(days_since_1970(1987, 10, 14), Some(6_495));
        for (year, month, day) in
            [(2007, 2, 29), (2100, 2, 29), (2008, 13, 1), (2008, 0, 1), (2008, 4, 31), (2008, 4, 0)]
        {
            assert_eq!(days_since_1970(year, month, day), None, "{year}-{month}-{day}");
        }
        // A Tuesday and a Wednesday: the first from the publisher's own column.
        assert_eq!(day_of_week(days_since_1970(2008, 1, 1).unwrap()), 2);
        assert_eq!(day_of_week(days_since_1970(1987, 10, 14).unwrap()), 3);
    }

    #[test]
    fn days_and_back() {
        let mut expected = days_since_1970(1900, 1, 1).unwrap();
        for year in 1900..2200 {
            for month in 1..=12 {
                for day in 1..=days_of_month(year, month).unwrap() {
                    assert_eq!(days_since_1970(year, month, day), Some(expected));
                    assert_eq!(civil(expected), (year.into(), month.into(), day.into()));
                    expected += 1;
                }
            }
        }
    }
}
