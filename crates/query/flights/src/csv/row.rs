//! A row, validated as a whole before it is stored.

use csv::ByteRecord;

use super::cells::{day_of_week, days_since_1970, is_missing, number};
use super::header::Layout;
use crate::columns::{Cells, Columns};
use crate::schema::Kind;
use crate::{BadRow, Column};

/// Flights with missing or unreadable values.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Derived {
    pub(super) cancelled: u64,
    pub(super) diverted: u64,
    pub(super) tail_numbers: u64,
}

impl Derived {
    pub(super) fn add(&mut self, other: Self) {
        self.cancelled += other.cancelled;
        self.diverted += other.diverted;
        self.tail_numbers += other.tail_numbers;
    }
}

/// Value of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Value<'a> {
    Missing,
    Number(i32),
    Text(&'a str),
    /// Year and month.
    Month(u16, u8),
}

/// Values of a row.
pub(super) struct Flight<'a> {
    values: [Value<'a>; Column::ALL.len()],
    derived: Derived,
}

impl<'a> Flight<'a> {
    /// Parses a row with as many columns as the header.
    pub(super) fn of(record: &'a ByteRecord, layout: &Layout) -> Result<Self, BadRow> {
        let mut flight = Self { values: [Value::Missing; Column::ALL.len()], derived: Derived::default() };
        for (column, value) in Column::ALL.iter().zip(&mut flight.values) {
            let cell = layout.place(*column).and_then(|place| record.get(place)).unwrap_or_default();
            if !is_missing(cell) {
                *value = match value_of(*column, cell) {
                    // The publisher's own files have tail numbers in an unknown encoding.
                    Err(BadRow::Encoding) if *column == Column::TailNum => {
                        flight.derived.tail_numbers = 1;
                        Value::Missing
                    }
                    value => value?,
                };
            }
        }
        flight.date(record.get(layout.day).unwrap_or_default())?;
        flight.derive();
        let missing =
            Column::ALL.iter().find(|column| !column.is_nullable() && flight.get(**column) == Value::Missing);
        missing.map_or(Ok(flight), |column| Err(BadRow::Missing { column: *column }))
    }

    /// Values that weren't in the file.
    pub(super) fn derived(&self) -> Derived {
        self.derived
    }

    fn get(&self, column: Column) -> Value<'a> {
        self.values.get(column.index()).copied().unwrap_or(Value::Missing)
    }

    fn set(&mut self, column: Column, value: Value<'a>) {
        if let Some(place) = self.values.get_mut(column.index()) {
            *place = value;
        }
    }

    /// Derives date, month and day of the week from year, month and day.
    fn date(&mut self, day: &[u8]) -> Result<(), BadRow> {
        let part = |column| match self.get(column) {
            Value::Number(number) => Ok(number),
            Value::Missing | Value::Text(_) | Value::Month(..) => Err(BadRow::Missing { column }),
        };
        let (year, month) = (part(Column::Year)?, part(Column::Month)?);
        let bad_day = || BadRow::cell(Column::FlightDate, day, "day of a month");
        let day = number(day).and_then(|day| u8::try_from(day).ok()).ok_or_else(bad_day)?;
        let year = u16::try_from(year).unwrap_or_default();
        let month = u8::try_from(month).unwrap_or_default();
        let days = days_since_1970(year, month, day).ok_or(BadRow::Date { year, month, day })?;
        self.set(Column::Month, Value::Month(year, month));
        self.set(Column::FlightDate, Value::Number(days));
        self.set(Column::DayOfWeek, Value::Number(day_of_week(days).into()));
        Ok(())
    }

    /// Derives missing flags. A flight was cancelled if it has a reason for it, or never departed.
    /// It was diverted if it departed but has no arrival delay.
    fn derive(&mut self) {
        let has = |column| self.get(column) != Value::Missing;
        let departed = has(Column::DepTime);
        let arrived = has(Column::ArrDelay);
        let has_reason = has(Column::CancellationCode);
        if self.get(Column::Cancelled) == Value::Missing {
            self.set(Column::Cancelled, Value::Number(i32::from(has_reason || !departed)));
            self.derived.cancelled = 1;
        }
        if self.get(Column::Diverted) == Value::Missing {
            let is_cancelled = self.get(Column::Cancelled) == Value::Number(1);
            self.set(Column::Diverted, Value::Number(i32::from(departed && !arrived && !is_cancelled)));
            self.derived.diverted = 1;
        }
    }

    /// Appends the row to a batch.
    pub(super) fn append(&self, columns: &mut Columns) {
        for ((_, cells), value) in columns.iter_mut().zip(&self.values) {
            append(cells, *value);
        }
    }
}

fn append(cells: &mut Cells, value: Value<'_>) {
    let number = match value {
        Value::Number(number) => Some(number),
        Value::Missing | Value::Text(_) | Value::Month(..) => None,
    };
    // Out-of-range values were rejected when the cell was parsed.
    match (cells, value) {
        (Cells::U8(cells), _) => cells.append_option(number.and_then(|number| u8::try_from(number).ok())),
        (Cells::U16(cells), _) => cells.append_option(number.and_then(|number| u16::try_from(number).ok())),
        (Cells::I16(cells), _) => cells.append_option(number.and_then(|number| i16::try_from(number).ok())),
        (Cells::Date(cells), _) => cells.append_option(number),
        (Cells::Code(cells), Value::Text(text)) => cells.append_value(text),
        (Cells::Code(cells), Value::Month(year, month)) => {
            cells.append_value(month_name(&mut [0; 7], year, month));
        }
        (Cells::Code(cells), Value::Missing | Value::Number(_)) => cells.append_null(),
        (Cells::Text(cells), Value::Text(text)) => cells.append_value(text),
        (Cells::Text(cells), Value::Missing | Value::Number(_) | Value::Month(..)) => cells.append_null(),
    }
}

/// Formats as `2008-01`.
fn month_name(buffer: &mut [u8; 7], year: u16, month: u8) -> &str {
    let digit = |number: u16| b'0' + u8::try_from(number % 10).unwrap_or_default();
    let month = u16::from(month);
    *buffer = [
        digit(year / 1000),
        digit(year / 100),
        digit(year / 10),
        digit(year),
        b'-',
        digit(month / 10),
        digit(month),
    ];
    std::str::from_utf8(buffer).unwrap_or_default()
}

fn value_of(column: Column, cell: &[u8]) -> Result<Value<'_>, BadRow> {
    match column.kind() {
        Kind::U8 | Kind::U16 | Kind::I16 | Kind::Date => number_of(column, cell),
        Kind::Code if column == Column::Month => number_of(column, cell),
        Kind::Code | Kind::Text => text_of(column, cell),
    }
}

fn number_of(column: Column, cell: &[u8]) -> Result<Value<'_>, BadRow> {
    let (range, expected) = match column {
        Column::Year => (1900..=2200, "year"),
        Column::Month => (1..=12, "month"),
        Column::Cancelled | Column::Diverted => (0..=1, "flag"),
        // Published times may continue after midnight, such as 2546.
        Column::CrsDepTime | Column::DepTime | Column::CrsArrTime | Column::ArrTime => {
            (0..=2959, "time as hhmm")
        }
        Column::FlightNum | Column::Distance => (0..=i32::from(u16::MAX), "number from 0 to 65535"),
        _ => (i32::from(i16::MIN)..=i32::from(i16::MAX), "whole number of minutes"),
    };
    match number(cell).filter(|number| range.contains(number)) {
        Some(number) if expected != "time as hhmm" || number % 100 < 60 => Ok(Value::Number(number)),
        _ => Err(BadRow::cell(column, cell, expected)),
    }
}

fn text_of(column: Column, cell: &[u8]) -> Result<Value<'_>, BadRow> {
    let is_letter = |byte: &u8| byte.is_ascii_uppercase() || byte.is_ascii_digit();
    let (is_right, expected) = match column {
        // `ML (1)` is a carrier whose code had belonged to another one.
        Column::Airline => (
            (2..=7).contains(&cell.len()) && cell.iter().all(|byte| is_letter(byte) || b" ()".contains(byte)),
            "carrier's code",
        ),
        Column::Origin | Column::Dest => (cell.len() == 3 && cell.iter().all(is_letter), "airport's code"),
        Column::CancellationCode => (cell.len() == 1 && cell.iter().all(is_letter), "reason of one letter"),
        _ => (true, "text"),
    };
    let text = std::str::from_utf8(cell).map_err(|_| BadRow::Encoding)?;
    if is_right { Ok(Value::Text(text)) } else { Err(BadRow::cell(column, cell, expected)) }
}
