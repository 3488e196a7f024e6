//! The text of `perf script` for the event `block:block_rq_issue`:
//!
//! ```text
//!   dd 23084 [000] 11427.121759: block:block_rq_issue: 254,0 WS 8192 () 177667416 + 16 0x2,0,4 [dd]
//! process pid [cpu]     seconds:                      device rwbs bytes (command) sector + sectors [priority] [process]
//! ```
//!
//! The priority is there from Linux 6.6 on. A flush has no sectors.

use super::kernel::{extent, is_device, operation};
use super::{Event, Parser, number, seconds};
use crate::{Operation, Record};

const EVENT: &str = "block:block_rq_issue:";

pub(super) fn begins(line: &str) -> bool {
    line.contains(EVENT) || line.starts_with("# ========")
}

pub(super) struct PerfScript;

impl Parser for PerfScript {
    fn parse(&mut self, line: &str) -> Result<Option<Event>, String> {
        let Some((before, after)) = line.split_once(EVENT) else { return Ok(None) };
        let time = before.split_whitespace().next_back();
        let time_us = seconds(time.map(|time| time.trim_end_matches(':')))?;
        let mut words = after.split_whitespace();
        let device =
            words.next().filter(|word| is_device(word)).ok_or("the device (major,minor) is missing")?;
        let letters = words.next().ok_or("what kind of request it is (rwbs) is missing")?;
        let Some(mut operation) = operation(letters) else { return Ok(None) };
        // The command in brackets may have words of its own; the sector stands before the plus.
        let (sector, sectors) = after.split_once(" + ").ok_or("`sector + sectors` is missing")?;
        let sectors = number(sectors.split_whitespace().next(), "the number of sectors")?;
        if sectors == 0 {
            // A flush, also one that older kernels call a write (`FWS`); what else has no sectors moves no data.
            if !letters.contains('F') {
                return Ok(None);
            }
            operation = Operation::Sync;
        }
        let (address, length_bytes) = match operation {
            Operation::Sync => (0, 0),
            _ => extent(number(sector.split_whitespace().next_back(), "the sector")?, sectors)?,
        };
        let record = Record { time_us, operation, address, length_bytes, latency_ns: None };
        Ok(Some(Event { record, device: Some(device.into()) }))
    }

    fn has_absolute_times(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(line: &str) -> Option<Record> {
        PerfScript.parse(line).unwrap().map(|event| event.record)
    }

    #[test]
    fn old_and_new_kernels_are_read() {
        let expected = Record {
            time_us: 11_427_121_759,
            operation: Operation::Write,
            address: 16 * 512,
            length_bytes: 8192,
            latency_ns: None,
        };
        let new = " dd 23084 [000] 11427.121759: block:block_rq_issue: 254,0 WS 8192 () 16 + 16 0x2,0,4 [dd]";
        let old = " my dd 23084 [000] 11427.121759: block:block_rq_issue: 254,0 WS 8192 () 16 + 16 [my dd]";
        assert_eq!(record(new), Some(expected));
        assert_eq!(record(old), Some(expected));
    }

    #[test]
    fn flushes_and_other_lines() {
        let flush =
            " kworker/0:0H-kb 10 [000] 1.5: block:block_rq_issue: 254,0 FF 0 () 0 + 0 0x0,0,0 [kworker/0:0H]";
        assert_eq!(record(flush).map(|record| record.operation), Some(Operation::Sync));
        let old = " kworker/0 10 [000] 1.5: block:block_rq_issue: 8,16 FF 0 () 18446744073709551615 + 0 [kworker/0]";
        assert_eq!(record(old).map(|record| record.length_bytes), Some(0));
        let oldest = old.replace("FF 0", "FWS 0");
        assert_eq!(record(&oldest).map(|record| record.operation), Some(Operation::Sync));
        assert_eq!(record(&old.replace("FF 0", "WS 0").replace("18446744073709551615", "0")), None);
        assert_eq!(record("# captured on: Sat Nov 21"), None);
        assert!(PerfScript.parse(" dd 1 [0] 1.5: block:block_rq_issue: 254,0 WS 8192 ()").is_err());
    }
}
