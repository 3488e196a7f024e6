use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use serde::Serialize;
use utoipa::ToSchema;

/// Valid years.
const YEARS: RangeInclusive<u16> = 1900..=2200;

/// Month of a year, written as in flight records: `2008-01`. Stored as the number of months since
/// January of the year 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, ToSchema)]
#[schema(value_type = String, pattern = "^[0-9]{4}-[0-9]{2}$", example = "2008-01")]
pub struct Month(u16);

/// The text isn't a month.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a month is written as 2008-01")]
pub struct NotAMonth;

/// Range of months, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Months {
    first: Month,
    last: Month,
}

impl Month {
    /// Year.
    pub fn year(self) -> u16 {
        self.0 / 12
    }

    /// Number within the year, from 1.
    fn of_year(self) -> u16 {
        self.0 % 12 + 1
    }

    /// Number of days.
    pub fn days(self) -> u8 {
        let year = self.year();
        let is_leap = year.is_multiple_of(4) && !year.is_multiple_of(100) || year.is_multiple_of(400);
        match self.of_year() {
            2 if is_leap => 29,
            2 => 28,
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        }
    }
}

impl Months {
    /// Creates a range; `None` if the last month is before the first.
    pub fn new(first: Month, last: Month) -> Option<Self> {
        (first <= last).then_some(Self { first, last })
    }

    /// First month.
    pub fn first(&self) -> Month {
        self.first
    }

    /// Last month.
    pub fn last(&self) -> Month {
        self.last
    }

    /// Number of months.
    pub fn count(&self) -> u16 {
        self.last.0 - self.first.0 + 1
    }

    /// All months in order.
    pub fn all(&self) -> impl Iterator<Item = Month> + use<> {
        (self.first.0..=self.last.0).map(Month)
    }
}

impl FromStr for Month {
    type Err = NotAMonth;

    fn from_str(text: &str) -> Result<Self, NotAMonth> {
        let parts = text.split_once('-').filter(|(year, month)| year.len() == 4 && month.len() == 2);
        let (year, month) = parts.ok_or(NotAMonth)?;
        let number = |digits: &str, range: RangeInclusive<u16>| {
            let are_digits = digits.bytes().all(|digit| digit.is_ascii_digit());
            digits.parse().ok().filter(|number| are_digits && range.contains(number)).ok_or(NotAMonth)
        };
        Ok(Self(number(year, YEARS)? * 12 + number(month, 1..=12)? - 1))
    }
}

impl fmt::Display for Month {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}", self.year(), self.of_year())
    }
}

impl Serialize for Month {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn month(text: &str) -> Month {
        text.parse().unwrap()
    }

    #[test]
    fn months_are_written_with_two_digits() {
        assert_eq!(month("2008-01").to_string(), "2008-01");
        for wrong in [
            "",
            "2008",
            "2008-1",
            "2008-00",
            "2008-13",
            "08-01",
            "2008-01-01",
            "+008-01",
            "2008-+1",
            "9999-01",
            "2008-0'",
        ] {
            assert_eq!(wrong.parse::<Month>(), Err(NotAMonth), "{wrong}");
        }
    }

    #[test]
    fn months_continue_into_the_next_year() {
        let months = Months::new(month("2007-11"), month("2008-02")).unwrap();
        let all: Vec<String> = months.all().map(|month| month.to_string()).collect();
        assert_eq!(all, ["2007-11", "2007-12", "2008-01", "2008-02"]);
        assert_eq!(months.count(), 4);
        assert!(Months::new(month("2008-02"), month("2008-01")).is_none());
        assert_eq!([month("2008-02").days(), month("1900-02").days(), month("2001-04").days()], [29, 28, 30]);
    }
}
