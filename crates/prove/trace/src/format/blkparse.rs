//! The text of `blkparse` in its default format:
//!
//! ```text
//!   8,0    3        1     0.000000000   697  D   W 223490 + 8 [kjournald]
//! device  cpu  sequence        seconds   pid  action rwbs sector + sectors [process]
//! ```
//!
//! An event is where a request goes to the device (action `D`); the others (queued, merged, completed …) tell of the same
//! request, and the summary at the end of none.

use super::kernel::{extent, is_device, operation};
use super::{Event, Parser, number, seconds};
use crate::{Operation, Record};

pub(super) fn begins(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().take(7).collect();
    matches!(words.as_slice(), [device, cpu, sequence, time, ..]
        if is_device(device) && cpu.parse::<u32>().is_ok() && sequence.parse::<u64>().is_ok() && time.contains('.'))
}

pub(super) struct Blkparse;

impl Parser for Blkparse {
    fn parse(&mut self, line: &str) -> Result<Option<Event>, String> {
        let mut words = line.split_whitespace();
        // The summary has no devices at the beginnings of its lines.
        let Some(device) = words.next().filter(|word| is_device(word)) else { return Ok(None) };
        let time_us = seconds(words.nth(2))?;
        let action = words.nth(1).ok_or("the action is missing")?;
        if action != "D" {
            return Ok(None);
        }
        let letters = words.next().ok_or("what kind of request it is (rwbs) is missing")?;
        let Some(operation) = operation(letters) else { return Ok(None) };
        let sector = words.next();
        if letters.contains('F') && sector.is_none_or(|word| word.starts_with('[')) {
            let record =
                Record { time_us, operation: Operation::Sync, address: 0, length_bytes: 0, latency_ns: None };
            return Ok(Some(Event { record, device: Some(device.into()) }));
        }
        let sector = number(sector, "the sector")?;
        let plus = words.next();
        if plus != Some("+") {
            return Err(format!("expected `sector + sectors` and got {plus:?} after the sector"));
        }
        let sectors = number(words.next(), "the number of sectors")?;
        if sectors == 0 {
            return Ok(None);
        }
        let (address, length_bytes) = extent(sector, sectors)?;
        let record = Record { time_us, operation, address, length_bytes, latency_ns: None };
        Ok(Some(Event { record, device: Some(device.into()) }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(line: &str) -> Option<Record> {
        Blkparse.parse(line).unwrap().map(|event| event.record)
    }

    #[test]
    fn what_goes_to_the_device_is_an_event() {
        let issued = "  8,0    3        1     0.000120345   697  D   W 223490 + 8 [kjournald]";
        let expected = Record {
            time_us: 120,
            operation: Operation::Write,
            address: 223_490 * 512,
            length_bytes: 4096,
            latency_ns: None,
        };
        assert_eq!(record(issued), Some(expected));
        assert_eq!(Blkparse.parse(issued).unwrap().unwrap().device.as_deref(), Some("8,0"));
        for letters in ["FF", "FWS", "FN"] {
            let flush = format!("  8,0    1        7     0.000500000   697  D {letters} [jbd2/sda1-8]");
            assert_eq!(record(&flush).map(|record| record.operation), Some(Operation::Sync));
        }
        let write = "  8,0    1        7     0.000500000   697  D WS [jbd2/sda1-8]";
        assert!(Blkparse.parse(write).is_err(), "a write needs a sector");
    }

    #[test]
    fn the_rest_of_the_text_is_passed_over() {
        for line in [
            "  8,0    3        2     0.000000001   697  Q   W 223490 + 8 [kjournald]",
            "  8,0    3        3     0.000000001     0  C   W 223490 + 8 [0]",
            "CPU0 (8,0):",
            " Reads Queued:           0,        0KiB\t Writes Queued:           7,      128KiB",
            "",
        ] {
            assert_eq!(record(line), None, "{line}");
        }
    }

    #[test]
    fn a_damaged_line_is_named() {
        let complaint = Blkparse.parse("  8,0    3  1  0.0  697  D   W 2234x0 + 8 [k]").unwrap_err();
        assert!(complaint.contains("the sector should be"), "{complaint}");
        assert!(Blkparse.parse("  8,0    3  1  0.0  697  D   W 2234 - 8 [k]").is_err());
    }
}
