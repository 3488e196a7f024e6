//! Parses columns given on a command line: `time=1:us,offset=4:sectors,bytes=5,op=3`.

use std::str::FromStr;

use super::spelling::Spelling;
use super::{Columns, ScaledColumn};

/// Maximum number of a column.
const COLUMNS_MAX: u16 = 1000;
const EXAMPLE: &str = "time=1:us,offset=4:sectors,bytes=5,op=3";

/// Invalid description of columns.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{complaint}, in {part:?}; columns are named as in {EXAMPLE}")]
pub struct InvalidColumns {
    /// Part that is wrong.
    part: String,
    /// Form expected.
    complaint: String,
}

#[derive(Default)]
struct Draft {
    time: Option<ScaledColumn>,
    offset: Option<ScaledColumn>,
    bytes: Option<ScaledColumn>,
    operation: Option<(u16, Spelling)>,
    latency: Option<ScaledColumn>,
    device: Option<u16>,
}

impl FromStr for Columns {
    type Err = InvalidColumns;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut draft = Draft::default();
        for part in text.split(',') {
            let wrong = |complaint| InvalidColumns { part: part.to_owned(), complaint };
            draft.take(part).map_err(wrong)?;
        }
        draft.finish().map_err(|complaint| InvalidColumns { part: text.to_owned(), complaint })
    }
}

impl Draft {
    fn take(&mut self, part: &str) -> Result<(), String> {
        let (name, place) = part.split_once('=').ok_or("expected NAME=COLUMN or NAME=COLUMN:UNIT")?;
        let (column, unit) =
            place.split_once(':').map_or((place, None), |(column, unit)| (column, Some(unit)));
        let column: u16 =
            column.trim().parse().ok().filter(|column| (1..=COLUMNS_MAX).contains(column)).ok_or_else(
                || format!("the column should be a number from 1 to {COLUMNS_MAX} and is {column:?}"),
            )?;
        let scaled = |unit| ScaledColumn { column, unit };
        let is_new = match name.trim() {
            "time" => self.time.replace(scaled(time_unit(unit)?)).is_none(),
            "latency" => self.latency.replace(scaled(time_unit(unit)?)).is_none(),
            "offset" => self.offset.replace(scaled(byte_unit(unit)?)).is_none(),
            "bytes" => self.bytes.replace(scaled(byte_unit(unit)?)).is_none(),
            "op" => self.operation.replace((column, spelling(unit)?)).is_none(),
            "device" if unit.is_none() => self.device.replace(column).is_none(),
            "device" => return Err("a device has no unit".into()),
            name => return Err(format!("expected time, offset, bytes, op, latency or device, got {name:?}")),
        };
        if is_new { Ok(()) } else { Err(format!("{name} has a column already")) }
    }

    fn finish(self) -> Result<Columns, String> {
        let lacking = |name: &str| format!("{name} has no column");
        let (operation, spelling) = self.operation.ok_or_else(|| lacking("op"))?;
        Ok(Columns {
            time: self.time.ok_or_else(|| lacking("time"))?,
            offset: self.offset.ok_or_else(|| lacking("offset"))?,
            bytes: self.bytes.ok_or_else(|| lacking("bytes"))?,
            operation,
            spelling,
            latency: self.latency,
            device: [self.device, None],
        })
    }
}

/// Returns the nanoseconds of a unit, which is required.
fn time_unit(unit: Option<&str>) -> Result<u32, String> {
    match unit {
        Some("s") => Ok(1_000_000_000),
        Some("ms") => Ok(1_000_000),
        Some("us" | "µs") => Ok(1000),
        Some("100ns") => Ok(100),
        Some("ns") => Ok(1),
        got => {
            let got = got.unwrap_or("none");
            Err(format!("the unit of a time should be s, ms, us, 100ns or ns and is {got}"))
        }
    }
}

/// Returns the bytes of a unit; 1 if none is given.
fn byte_unit(unit: Option<&str>) -> Result<u32, String> {
    /// Upper bound of a unit; pages and file system blocks are far smaller.
    const UNIT_BYTES_MAX: u32 = 1 << 30;
    match unit {
        None | Some("bytes") => Ok(1),
        Some("sectors") => Ok(512),
        Some("KiB") => Ok(1024),
        Some(bytes) => bytes.parse().ok().filter(|bytes| (1..=UNIT_BYTES_MAX).contains(bytes)).ok_or_else(|| {
            format!("the unit should be bytes, sectors (of 512 bytes), KiB or a number of bytes and is {bytes:?}")
        }),
    }
}

fn spelling(unit: Option<&str>) -> Result<Spelling, String> {
    match unit {
        None => Ok(Spelling::Words),
        Some("read0") => Ok(Spelling::Numbers { read: 0 }),
        Some("read1") => Ok(Spelling::Numbers { read: 1 }),
        Some(got) => Err(format!(
            "op takes words without a unit, or read0 (0 reads, 1 writes) or read1 (1 reads, 0 writes); got {got:?}"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_parsed_with_their_units() {
        let columns: Columns = "time=1:us,offset=4:sectors,bytes=5,op=3".parse().unwrap();
        assert_eq!(
            (columns.time, columns.offset),
            (ScaledColumn { column: 1, unit: 1000 }, ScaledColumn { column: 4, unit: 512 })
        );
        assert_eq!((columns.operation, columns.spelling, columns.latency), (3, Spelling::Words, None));
        let columns: Columns =
            "op=2:read1,time=1:100ns,bytes=5:4096,offset=9:KiB,device=3,latency=6:ms".parse().unwrap();
        assert_eq!((columns.bytes.unit, columns.device), (4096, [Some(3), None]));
    }

    #[test]
    fn error_states_the_defect_of_the_description() {
        for (text, part) in [
            ("", "NAME=COLUMN"),
            ("time=1:us,offset=4,bytes=5", "op has no column"),
            ("time=1,offset=4,bytes=5,op=3", "should be s, ms, us"),
            ("time=0:s,offset=4,bytes=5,op=3", "a number from 1 to 1000"),
            ("time=1:s,offset=4:yards,bytes=5,op=3", "sectors (of 512 bytes)"),
            ("time=1:s,offset=4:0,bytes=5,op=3", "sectors (of 512 bytes)"),
            ("time=1:s,time=2:s,offset=4,bytes=5,op=3", "time has a column already"),
            ("time=1:s,offset=4,bytes=5,op=3:5", "read0"),
            ("when=1:s", "expected time, offset"),
        ] {
            let said = text.parse::<Columns>().unwrap_err().to_string();
            assert!(said.contains(part) && said.contains(EXAMPLE), "{text}: {said}");
        }
    }
}
