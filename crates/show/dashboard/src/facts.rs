//! Facts about airports that flight records lack, from a CSV: `airport,passengers,population,name`.
//! Only the first column is required. An empty cell means unknown.

use std::collections::BTreeMap;
use std::io::Read;

use csv::{ReaderBuilder, StringRecord};

use crate::AirportCode;

/// Greatest length of a name.
const NAME_LETTERS_MAX: usize = 100;
/// Greatest number of airports; fewer codes are in use.
const AIRPORTS_MAX: usize = 50_000;

/// Facts about an airport.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Fact {
    /// Passengers, in the same period for all airports.
    pub passengers: Option<u64>,
    /// Population of the area.
    pub population: Option<u64>,
    /// Name for people.
    pub name: Option<String>,
}

/// Facts about airports by code.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Facts(BTreeMap<AirportCode, Fact>);

/// Reason for rejecting the facts.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FactsError {
    /// The text isn't CSV, or can't be read.
    #[error("{0}")]
    Csv(#[from] csv::Error),
    /// The header lacks a column or has an unknown one.
    #[error("its header has {got}; expected `airport` and any of passengers, population, name")]
    Header {
        /// Header as read.
        got: String,
    },
    /// A cell doesn't match its column.
    #[error("line {line}, column {column}: {got:?} isn't a valid {expected}")]
    Cell {
        /// Line number, from 1.
        line: u64,
        /// Column.
        column: &'static str,
        /// Content of the cell.
        got: String,
        /// Expected content.
        expected: &'static str,
    },
    /// An airport has two lines.
    #[error("line {line}: {airport} is also on an earlier line; remove one of them")]
    DuplicateAirport {
        /// Line number, from 1.
        line: u64,
        /// Airport.
        airport: AirportCode,
    },
    /// There are more lines than airports.
    #[error("it has more than {AIRPORTS_MAX} lines, but there are fewer airports")]
    TooMany,
}

/// Columns and their content.
const COLUMNS: [(&str, &str); 4] = [
    ("airport", "airport code of three capital letters or digits"),
    ("passengers", "whole number"),
    ("population", "whole number"),
    ("name", "name of up to 100 letters"),
];

impl Facts {
    /// Reads facts from CSV.
    ///
    /// # Errors
    /// The error names line and column.
    pub fn read(from: impl Read) -> Result<Self, FactsError> {
        let mut reader = ReaderBuilder::new().trim(csv::Trim::All).from_reader(from);
        let column_positions = column_positions(reader.headers()?)?;
        let mut facts = BTreeMap::new();
        for record in reader.records() {
            let record = record?;
            let line = record.position().map_or(0, csv::Position::line);
            let (airport, fact) = CsvRow { line, record, column_positions }.read()?;
            if facts.insert(airport, fact).is_some() {
                return Err(FactsError::DuplicateAirport { line, airport });
            }
            if facts.len() > AIRPORTS_MAX {
                return Err(FactsError::TooMany);
            }
        }
        Ok(Self(facts))
    }

    /// Facts about an airport.
    pub fn of(&self, airport: AirportCode) -> Option<&Fact> {
        self.0.get(&airport)
    }

    /// All airports with facts.
    pub fn iter(&self) -> impl Iterator<Item = (AirportCode, &Fact)> {
        self.0.iter().map(|(airport, fact)| (*airport, fact))
    }
}

/// Position of each column.
type ColumnPositions = [Option<usize>; COLUMNS.len()];

fn column_positions(header: &StringRecord) -> Result<ColumnPositions, FactsError> {
    let refused = || FactsError::Header { got: header.iter().collect::<Vec<_>>().join(",") };
    let mut column_positions: ColumnPositions = [None; COLUMNS.len()];
    for (place, name) in header.iter().enumerate() {
        let column = COLUMNS.iter().position(|(column, _)| *column == name).ok_or_else(refused)?;
        let slot = column_positions.get_mut(column).ok_or_else(refused)?;
        if slot.replace(place).is_some() {
            return Err(refused());
        }
    }
    if column_positions.first().is_some_and(Option::is_some) { Ok(column_positions) } else { Err(refused()) }
}

struct CsvRow {
    line: u64,
    record: StringRecord,
    column_positions: ColumnPositions,
}

impl CsvRow {
    fn read(&self) -> Result<(AirportCode, Fact), FactsError> {
        let wrong_airport = || self.wrong(0, "");
        let airport = self.cell(0, |text| text.parse().ok())?.ok_or_else(wrong_airport)?;
        let is_name =
            |text: &str| text.chars().count() <= NAME_LETTERS_MAX && !text.chars().any(char::is_control);
        let fact = Fact {
            passengers: self.cell(1, |text| text.parse().ok())?,
            population: self.cell(2, |text| text.parse().ok())?,
            name: self.cell(3, |text| is_name(text).then(|| text.to_owned()))?,
        };
        Ok((airport, fact))
    }

    /// Parses a cell; `None` if it is empty.
    fn cell<T>(&self, column: usize, read: impl Fn(&str) -> Option<T>) -> Result<Option<T>, FactsError> {
        let place = self.column_positions.get(column).copied().flatten();
        let text = place.and_then(|place| self.record.get(place)).unwrap_or_default();
        if text.is_empty() {
            return Ok(None);
        }
        read(text).map(Some).ok_or_else(|| self.wrong(column, text))
    }

    fn wrong(&self, column: usize, got: &str) -> FactsError {
        let (column, expected) = COLUMNS.get(column).copied().unwrap_or_default();
        FactsError::Cell { line: self.line, column, got: got.to_owned(), expected }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Facts, FactsError> {
        Facts::read(text.as_bytes())
    }

    #[test]
    fn facts_are_read_with_columns_in_any_order() {
        let facts = read("passengers,airport,name\n41000000,IAH,\"Houston, Bush\"\n,HOU,\n").unwrap();
        let houston = facts.of("IAH".parse().unwrap()).unwrap();
        assert_eq!((houston.passengers, houston.name.as_deref()), (Some(41_000_000), Some("Houston, Bush")));
        assert_eq!(facts.of("HOU".parse().unwrap()), Some(&Fact::default()));
        assert_eq!(facts.of("ATL".parse().unwrap()), None);
    }

    #[test]
    fn errors_name_line_and_column() {
        for (text, part) in [
            ("", "its header has ;"),
            ("code,passengers\nIAH,1\n", "code,passengers"),
            ("airport,airport\nIAH,IAH\n", "airport,airport"),
            ("airport,passengers\nIAH,1\nATL,many\n", "line 3, column passengers: \"many\""),
            ("airport,passengers\nIAH,-1\n", "whole number"),
            ("airport,passengers\n,1\n", "line 2, column airport"),
            ("airport\nIAH\nIAH\n", "line 3: IAH is also"),
            ("airport,name\nIAH,a\u{1b}[0m\n", "column name"),
            ("airport,passengers\nIAH,1,2\n", "fields"),
        ] {
            let refusal = read(text).unwrap_err().to_string();
            assert!(refusal.contains(part), "{text:?}: {refusal}");
        }
    }
}
