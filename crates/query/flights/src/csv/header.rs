//! Which column of a file is which of ours: the historical files (21, 29 and 31 columns) and the current publication (110, the last
//! one empty because each line ends in a comma) are told apart by their names alone, in whatever order they stand.

use csv::ByteRecord;

use crate::{BadRow, Column};

const DAY_OF_MONTH: &str = "DayofMonth";

/// Other names that a column has in files, beside its own, the better first.
const fn other_names(column: Column) -> &'static [&'static str] {
    match column {
        Column::Airline => &["UniqueCarrier", "Reporting_Airline", "Unique_Carrier", "Carrier"],
        Column::FlightNum => &["Flight_Number_Reporting_Airline"],
        Column::TailNum => &["Tail_Number"],
        _ => &[],
    }
}

/// Without these a file isn't one of flights.
const REQUIRED: &[Column] = &[
    Column::Year,
    Column::Month,
    Column::Airline,
    Column::Origin,
    Column::Dest,
    Column::DepTime,
    Column::ArrDelay,
    Column::Cancelled,
    Column::Diverted,
];

/// Where a file has what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Layout {
    /// How many columns a row has.
    pub(super) columns: usize,
    /// Where the day of the month is.
    pub(super) day: usize,
    /// Where a column is, by its index in the schema.
    places: [Option<usize>; Column::ALL.len()],
}

impl Layout {
    /// Reads a header.
    pub(super) fn of(header: &ByteRecord) -> Result<Self, BadRow> {
        let find = |name: &'static str| {
            let is_named = |cell: &[u8]| cell.trim_ascii().eq_ignore_ascii_case(name.as_bytes());
            let mut places = header.iter().enumerate().filter(|(_, cell)| is_named(cell));
            let found = places.next().map(|(place, _)| place);
            // Which of two is meant can't be known.
            places.next().map_or(Ok(found), |_| Err(BadRow::HeaderTwice { column: name }))
        };
        let mut places = [None; Column::ALL.len()];
        // The day follows from year, month and day of the month, and files write it in several ways.
        let is_read = |column| !matches!(column, Column::FlightDate | Column::DayOfWeek);
        for (place, column) in places.iter_mut().zip(Column::ALL).filter(|(_, column)| is_read(**column)) {
            for name in std::iter::once(&column.name()).chain(other_names(*column)) {
                *place = place.or(find(name)?);
            }
        }
        let day = find(DAY_OF_MONTH)?.ok_or(BadRow::Header { missing: DAY_OF_MONTH })?;
        let layout = Self { columns: header.len(), day, places };
        match REQUIRED.iter().find(|column| layout.place(**column).is_none()) {
            Some(column) => Err(BadRow::Header { missing: column.name() }),
            None => Ok(layout),
        }
    }

    /// Where a column is, if the file has it.
    pub(super) fn place(&self, column: Column) -> Option<usize> {
        self.places.get(column.index()).copied().flatten()
    }
}
