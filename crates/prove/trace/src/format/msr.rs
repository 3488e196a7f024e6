//! The block traces of Microsoft Research, Cambridge (Narayanan, Donnelly, Rowstron: *Write Off-Loading*, FAST 2008): CSV
//! without a header,
//!
//! ```text
//! 128166372003061629,hm,0,Read,383496192,32768,113736
//! timestamp,hostname,disk number,type,offset in bytes,size in bytes,response time
//! ```
//!
//! with the timestamp and the response time in ticks of 100 ns, the former since 1601. A host's disks are devices apart.

use super::{Event, Parser, number};
use crate::{Operation, Record};

const TICKS_PER_US: u64 = 10;
const TICK_NS: u64 = 100;

pub(super) fn begins(line: &str) -> bool {
    Msr.parse(line).is_ok_and(|event| event.is_some())
}

pub(super) struct Msr;

impl Parser for Msr {
    fn parse(&mut self, line: &str) -> Result<Option<Event>, String> {
        if line.is_empty() {
            return Ok(None);
        }
        let mut fields = line.split(',');
        let time_us = number(fields.next(), "the timestamp")? / TICKS_PER_US;
        let host = fields.next().ok_or("the hostname is missing")?;
        let disk = fields.next().ok_or("the disk number is missing")?;
        let name = fields.next().ok_or("the type is missing")?;
        let operation = Operation::named(name)
            .filter(|operation| matches!(operation, Operation::Read | Operation::Write))
            .ok_or_else(|| format!("the type should be Read or Write and is {name:?}"))?;
        let address = number(fields.next(), "the offset")?;
        let length_bytes = number(fields.next(), "the size")?;
        let latency_ns = match fields.next() {
            Some(ticks) => Some(number(Some(ticks), "the response time")?.saturating_mul(TICK_NS)),
            None => None,
        };
        let record = Record { time_us, operation, address, length_bytes, latency_ns };
        Ok(Some(Event { record, device: Some(format!("{host}.{disk}")) }))
    }

    fn has_absolute_times(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read() {
        let event = Msr.parse("128166372003061629,hm,1,Write,383496192,32768,113736").unwrap().unwrap();
        assert_eq!(event.device.as_deref(), Some("hm.1"));
        let record = event.record;
        assert_eq!((record.time_us, record.operation), (12_816_637_200_306_162, Operation::Write));
        assert_eq!((record.address, record.length_bytes), (383_496_192, 32_768));
        assert_eq!(record.latency_ns, Some(11_373_600));
        assert!(Msr.parse("1,hm,1,Sync,0,1,1").is_err() && Msr.parse("1,hm").is_err());
    }
}
