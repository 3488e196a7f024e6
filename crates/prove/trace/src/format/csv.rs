//! Nandle's own format: CSV with the header `time_us,op,address,length`, or
//! `time_us,op,address,length,latency_ns`.
//!
//! `time_us` counts from any start; `op` is `read`, `write`, `sync` or `discard`; `address` and
//! `length` are bytes in one flat space, in which files are laid end to end. A sync covers its
//! extent, or everything if its length is 0. `latency_ns` is the response time of the device, empty
//! if unknown. No field is quoted. A file may be compressed by zstd.

use super::{Event, Parser, number};
use crate::{Operation, Record};

/// Header without latencies.
pub(crate) const HEADER: &str = "time_us,op,address,length";
/// Header with latencies.
pub(crate) const HEADER_WITH_LATENCY: &str = "time_us,op,address,length,latency_ns";

pub(super) fn begins(line: &str) -> bool {
    line.trim() == HEADER || has_latencies(line)
}

/// Returns true if the header has a column of latencies.
pub(super) fn has_latencies(line: &str) -> bool {
    line.trim() == HEADER_WITH_LATENCY
}

pub(super) struct Csv;

impl Parser for Csv {
    fn parse(&mut self, line: &str) -> Result<Option<Event>, String> {
        if line.is_empty() || begins(line) {
            return Ok(None);
        }
        let mut fields = line.split(',');
        let time_us = number(fields.next(), "the time in µs")?;
        let name = fields.next().ok_or("the operation is missing")?.trim();
        let operation = Operation::named(name)
            .ok_or_else(|| format!("the operation should be read, write, sync or discard and is {name:?}"))?;
        let address = number(fields.next(), "the address")?;
        let length_bytes = number(fields.next(), "the length")?;
        let latency_ns = match fields.next().map(str::trim) {
            None | Some("") => None,
            latency => Some(number(latency, "the latency in ns")?),
        };
        if fields.next().is_some() {
            return Err("the line should have four fields, or five with the latency, and has more".into());
        }
        Ok(Some(Record { time_us, operation, address, length_bytes, latency_ns }.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn valid_lines_are_read_and_bad_lines_are_errors() {
        let event = Csv.parse("235,write,4096,8192").unwrap().unwrap();
        let expected = Record {
            time_us: 235,
            operation: Operation::Write,
            address: 4096,
            length_bytes: 8192,
            latency_ns: None,
        };
        assert_eq!(event, expected.into());
        assert_eq!(Csv.parse("235,write,4096,8192,"), Ok(Some(expected.into())));
        let timed = Record { latency_ns: Some(81_500), ..expected };
        assert_eq!(Csv.parse("235,write,4096,8192,81500"), Ok(Some(timed.into())));
        assert_eq!((Csv.parse(HEADER), Csv.parse(HEADER_WITH_LATENCY)), (Ok(None), Ok(None)));
        for (line, part) in [
            ("x,write,0,1", "the time in µs should be a whole number"),
            ("1,scribble,0,1", "the operation should be"),
            ("1,write,-5,1", "the address should be"),
            ("1,write,0", "the length is missing"),
            ("1,write,0,1,2,3", "has more"),
            ("1,write,0,1,soon", "the latency in ns should be"),
        ] {
            let complaint = Csv.parse(line).unwrap_err();
            assert!(complaint.contains(part), "{line}: {complaint}");
        }
    }
}
