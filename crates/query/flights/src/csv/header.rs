//! Mapping of a file's columns to the schema. The historical files (21, 29 and 31 columns) and the
//! current publication (110, the last one empty because each line ends in a comma) are recognised
//! by column names in any order.

use csv::ByteRecord;

use crate::{BadRow, Column};

const DAY_OF_MONTH: &str = "DayofMonth";

/// Alternative names of a column in files, the best first.
const fn other_names(column: Column) -> &'static [&'static str] {
    match column {
        Column::Airline => &["UniqueCarrier", "Reporting_Airline", "Unique_Carrier", "Carrier"],
        Column::FlightNum => &["Flight_Number_Reporting_Airline"],
        Column::TailNum => &["Tail_Number"],
        _ => &[],
    }
}

/// Columns without which a file isn't one of flights.
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

/// Positions of columns in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Layout {
    /// Number of columns.
    pub(super) columns: usize,
    /// Position of the day of the month.
    pub(super) day: usize,
    /// Position of each column, by its index in the schema.
    places: [Option<usize>; Column::ALL.len()],
}

impl Layout {
    /// Parses a header.
    pub(super) fn of(header: &ByteRecord) -> Result<Self, BadRow> {
        let find = |name: &'static str| {
            let is_named = |cell: &[u8]| cell.trim_ascii().eq_ignore_ascii_case(name.as_bytes());
            let mut places = header.iter().enumerate().filter(|(_, cell)| is_named(cell));
            let found = places.next().map(|(place, _)| place);
            // Duplicates are ambiguous.
            places.next().map_or(Ok(found), |_| Err(BadRow::HeaderTwice { column: name }))
        };
        let mut places = [None; Column::ALL.len()];
        // The date follows from year, month and day; files write it in various formats.
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

    /// Position of a column, if the file has it.
    pub(super) fn place(&self, column: Column) -> Option<usize> {
        self.places.get(column.index()).copied().flatten()
    }
}
