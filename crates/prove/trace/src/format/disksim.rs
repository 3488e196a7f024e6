//! Validation traces of `DiskSim`: requests to a real disk, with measured response times.
//!
//! ```text
//! W Hit   11392096  12   1686.00000  40961.00000
//! kind, buffer hit or miss, first sector, sectors, response time in µs, pause in µs
//! ```
//!
//! Sectors have 512 bytes. A request that wasn't served from the disk's buffer is a `Miss`, or a
//! `Doub` or `Trip` if it took two or three seeks. The pause, which `DiskSim` calls the
//! inter-arrival time, is the time from the completion of the previous request to the arrival of
//! this one; one request is outstanding at a time. The data confirm this: many pauses are far
//! shorter than the response times around them, and only this reading lets a model predict the
//! position of the platter. The time of a request is therefore the sum of all response times and
//! pauses before it, plus its own pause.

use super::kernel::extent;
use super::{Event, Parser, number};
use crate::{Operation, Record};

/// Maximum pause or response time, in µs: a year.
const TIME_US_MAX: f64 = 3.2e13;

pub(super) fn begins(line: &str) -> bool {
    DiskSim::default().parse(line).is_ok_and(|event| event.is_some())
}

/// Parser that keeps the completion time of the previous request.
#[derive(Default)]
pub(super) struct DiskSim {
    end_us: u64,
}

impl Parser for DiskSim {
    fn parse(&mut self, line: &str) -> Result<Option<Event>, String> {
        let mut words = line.split_whitespace();
        let operation = match words.next() {
            None => return Ok(None),
            Some("R") => Operation::Read,
            Some("W") => Operation::Write,
            Some(other) => return Err(format!("the kind should be R or W and is {other:?}")),
        };
        match words.next() {
            Some("Hit" | "Miss" | "Doub" | "Trip") => {}
            other => return Err(format!("expected Hit, Miss, Doub or Trip and got {other:?}")),
        }
        let sector = number(words.next(), "the first sector")?;
        let (address, length_bytes) = extent(sector, number(words.next(), "the number of sectors")?)?;
        let response_us = microseconds(words.next(), "the response time")?;
        let pause_us = microseconds(words.next(), "the pause")?;
        if words.next().is_some() {
            return Err("the line should have six words and has more".into());
        }
        let time_us = self.end_us.saturating_add(pause_us);
        self.end_us = time_us.saturating_add(response_us);
        let latency_ns = Some(response_us.saturating_mul(1000));
        Ok(Some(Record { time_us, operation, address, length_bytes, latency_ns }.into()))
    }

    /// The first pause is part of the trace.
    fn has_absolute_times(&self) -> bool {
        false
    }
}

/// Parses a time, rounded to the nearest microsecond.
fn microseconds(text: Option<&str>, what: &str) -> Result<u64, String> {
    let text = text.ok_or_else(|| format!("{what} is missing"))?;
    let time_us = text.parse().ok().filter(|time_us: &f64| (0.0..=TIME_US_MAX).contains(time_us));
    let time_us = time_us.ok_or_else(|| format!("{what} should be µs, from 0 to a year, and is {text:?}"))?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to a year")]
    let whole_us = time_us.round() as u64;
    Ok(whole_us)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_sums_of_pauses_and_responses() {
        let lines = [
            "W Hit   11392096  12   1686.00000  40961.00000",
            "R Miss    7563004   4  14368.00000  28778.00000",
            "",
            "R Hit   11589236   4   8724.00000  0.4",
        ];
        let mut parser = DiskSim::default();
        let events = lines.iter().filter_map(|line| parser.parse(line).unwrap());
        let got: Vec<_> = events.map(|event| (event.record.time_us, event.record.latency_ns)).collect();
        let second_us = 40_961 + 1686 + 28_778;
        let expected = [(40_961, 1_686_000), (second_us, 14_368_000), (second_us + 14_368, 8_724_000)];
        assert_eq!(got, expected.map(|(time_us, latency_ns)| (time_us, Some(latency_ns))));
        let first = DiskSim::default().parse(lines[0]).unwrap().unwrap().record;
        assert_eq!(
            (first.operation, first.address, first.length_bytes),
            (Operation::Write, 11_392_096 * 512, 6144)
        );
    }

    #[test]
    fn requests_with_several_seeks_are_read() {
        for seeks in ["Doub", "Trip"] {
            let line = format!("W {seeks}   11392096  12   31686.00000  40961.00000");
            let record = DiskSim::default().parse(&line).unwrap().unwrap().record;
            assert_eq!((record.operation, record.latency_ns), (Operation::Write, Some(31_686_000)), "{line}");
        }
    }

    #[test]
    fn damaged_line_is_an_error() {
        for (line, part) in [
            ("X Hit 1 1 1.0 1.0", "R or W"),
            ("R 1 1 1.0 1.0", "Hit, Miss, Doub or Trip"),
            ("R Hit -1 1 1.0 1.0", "the first sector should"),
            ("R Hit 36893488147419103 1 1.0 1.0", "beyond any device"),
            ("R Hit 1 1 NaN 1.0", "the response time should"),
            ("R Hit 1 1 1.0 -1.0", "the pause should"),
            ("R Hit 1 1 1.0 1e300", "the pause should"),
            ("R Hit 1 1 1.0", "the pause is missing"),
            ("R Hit 1 1 1.0 1.0 1", "has more"),
        ] {
            let complaint = DiskSim::default().parse(line).unwrap_err();
            assert!(complaint.contains(part), "{line}: {complaint}");
        }
    }
}
