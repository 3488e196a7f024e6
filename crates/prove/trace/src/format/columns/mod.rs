//! Traces with one event per line, in columns. One reader serves all of them: each format is a
//! [table entry](known::Layout) with the meaning and unit of each column, and the spelling of
//! operations.

mod field;
pub(super) mod known;
mod spec;
mod spelling;

use self::field::{decimal, whole};
use self::spelling::Spelling;
use super::{Event, Parser};
use crate::Record;

pub(super) use self::known::Layout;
pub use self::spec::InvalidColumns;

/// A column, counted from 1, and its unit in nanoseconds or bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ScaledColumn {
    column: u16,
    unit: u32,
}

/// Meaning of the columns of a trace.
///
/// Columns are separated by commas if a line has any, else by semicolons, else by white space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Columns {
    time: ScaledColumn,
    offset: ScaledColumn,
    bytes: ScaledColumn,
    operation: u16,
    spelling: Spelling,
    latency: Option<ScaledColumn>,
    device: [Option<u16>; 2],
}

impl Columns {
    pub(crate) fn names_devices(self) -> bool {
        self.device.iter().any(Option::is_some)
    }

    /// Returns true if these columns yield an event for the line.
    pub(crate) fn fits(self, line: &str) -> bool {
        self.event(&fields(line)).is_ok()
    }

    pub(crate) fn has_latencies(self) -> bool {
        self.latency.is_some()
    }

    /// Parses the event of a line.
    fn event(self, fields: &[&str]) -> Result<Event, String> {
        let field = |column: u16, what: &str| {
            field(fields, column).ok_or_else(|| {
                format!("{what} should be in column {column}, and the line has {} columns", fields.len())
            })
        };
        let since_ns = decimal(field(self.time.column, "the time")?, self.time.unit, "the time")?;
        let operation = self.spelling.read(field(self.operation, "the operation")?)?;
        let address = whole(field(self.offset.column, "the offset")?, self.offset.unit, "the offset")?;
        let length_bytes = whole(field(self.bytes.column, "the size")?, self.bytes.unit, "the size")?;
        // Some traces leave out an unknown latency.
        let latency = self.latency.and_then(|latency| {
            let text = field(latency.column, "the latency").ok().filter(|text| !text.is_empty())?;
            Some(decimal(text, latency.unit, "the latency"))
        });
        let latency_ns = latency.transpose()?.map(|ns| u64::try_from(ns).unwrap_or(u64::MAX));
        let time_us = u64::try_from(since_ns / 1000).map_err(|_| "the time is beyond 64 bits of µs")?;
        let mut device: Option<String> = None;
        for column in self.device.into_iter().flatten() {
            let part = field(column, "the device")?;
            device = Some(device.map_or_else(|| part.to_owned(), |device| format!("{device}.{part}")));
        }
        let record = Record { time_us, operation, address, length_bytes, latency_ns };
        Ok(Event { device, ..record.into() })
    }
}

/// Returns the field of a column, counted from 1.
fn field<'a>(fields: &[&'a str], column: u16) -> Option<&'a str> {
    usize::from(column).checked_sub(1).and_then(|index| fields.get(index)).copied()
}

/// Splits a line into fields.
fn fields(line: &str) -> Vec<&str> {
    let separator = [',', ';'].into_iter().find(|separator| line.contains(*separator));
    match separator {
        Some(separator) => line.split(separator).map(unquoted).collect(),
        None => line.split_whitespace().map(unquoted).collect(),
    }
}

fn unquoted(field: &str) -> &str {
    let field = field.trim();
    field.strip_prefix('"').and_then(|field| field.strip_suffix('"')).unwrap_or(field)
}

/// Parser for lines of columns.
pub(super) struct ColumnReader {
    columns: Columns,
    header: Option<&'static str>,
}

impl From<&Layout> for ColumnReader {
    fn from(layout: &Layout) -> Self {
        Self { columns: layout.columns, header: layout.header }
    }
}

impl From<Columns> for ColumnReader {
    fn from(columns: Columns) -> Self {
        Self { columns, header: None }
    }
}

impl Parser for ColumnReader {
    fn parse(&mut self, line: &str) -> Result<Option<Event>, String> {
        let is_header = self.header.is_some_and(|header| is_header(line, header));
        if line.trim().is_empty() || line.starts_with('#') || is_header {
            return Ok(None);
        }
        self.columns.event(&fields(line)).map(Some)
    }
}

/// Returns true if a line starts with the column names of `header`; trailing names may be missing.
pub(super) fn is_header(line: &str, header: &str) -> bool {
    let names = fields(line);
    let is_name = |(name, expected): (&&str, &str)| name.eq_ignore_ascii_case(expected);
    names.len() > 3 && names.iter().zip(header.split(',')).all(is_name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Operation;

    fn read(columns: &str, line: &str) -> Result<Event, String> {
        let columns: Columns = columns.parse().unwrap();
        ColumnReader::from(columns).parse(line).map(Option::unwrap)
    }

    #[test]
    fn columns_are_read_in_their_units() {
        let biosnoop = "time=1:s,device=4,op=5,offset=6:sectors,bytes=7,latency=8:ms";
        let event = read(biosnoop, "1.000004  supervise  1950  xvda1  W  13092560  4096  0.74").unwrap();
        let expected = Record {
            time_us: 1_000_004,
            operation: Operation::Write,
            address: 13_092_560 * 512,
            length_bytes: 4096,
            latency_ns: Some(740_000),
        };
        assert_eq!((event.record, event.device.as_deref()), (expected, Some("xvda1")));
        let event = read("time=1:us,offset=4:sectors,bytes=5,op=3", "7;x;\"read\";8;512").unwrap();
        assert_eq!((event.record.time_us, event.record.address, event.device), (7, 4096, None));
    }

    #[test]
    fn error_states_the_defect_of_the_line() {
        for (line, part) in [
            ("7,x,read,8", "the size should be in column 5, and the line has 4 columns"),
            ("soon,x,read,8,512", "the time should be a number"),
            ("7,x,scribble,8,512", "the operation should be"),
            ("7,x,1,8,512", "op=3:read0"),
            ("7,x,read,-8,512", "the offset should be a whole number"),
            ("7,x,read,8,36893488147419103232", "the size should be a whole number"),
            ("7,x,read,9223372036854775808,512", "the offset is beyond"),
        ] {
            let complaint = read("time=1:us,offset=4:sectors,bytes=5,op=3", line).unwrap_err();
            assert!(complaint.contains(part), "{line}: {complaint}");
        }
    }
}
