//! The text of `perf script` for the event `block:block_rq_issue`:
//!
//! ```text
//!   dd 23084 [000] 11427.121759: block:block_rq_issue: 254,0 WS 8192 () 177667416 + 16 0x2,0,4 [dd]
//! process pid [cpu]     seconds:                      device rwbs bytes (command) sector + sectors [priority] [process]
//! ```
//!
//! The priority is present since Linux 6.6. A flush has no sectors. If requeues and completions are
//! recorded, too, a requeued request counts once. Other events are skipped.

use super::kernel::request;
use super::requeue::{Key, Requeues};
use super::rwbs::RequestKind;
use super::{Event, Parser, seconds};
use crate::Record;

const GROUP: &str = " block:block_";
const ISSUE: &str = " block:block_rq_issue:";
const REQUEUE: &str = " block:block_rq_requeue:";
const COMPLETE: &str = " block:block_rq_complete:";

pub(super) fn begins(line: &str) -> bool {
    line.contains(GROUP) || line.starts_with("# ========")
}

#[derive(Default)]
pub(super) struct PerfScript {
    requeues: Requeues,
}

impl Parser for PerfScript {
    fn parse(&mut self, line: &str) -> Result<Option<Event>, String> {
        let Some((before, after)) = line.split_once(ISSUE) else {
            self.follow(line);
            return Ok(None);
        };
        let time = before.split_whitespace().next_back();
        let time_us = seconds(time.map(|time| time.trim_end_matches(':')))?;
        let Some(request) = request(after)? else { return Ok(None) };
        let key = key(request.device, request.letters, request.address);
        if !self.requeues.issue(key) {
            return Ok(None);
        }
        let (operation, address, length_bytes) = (request.operation, request.address, request.length_bytes);
        let record = Record { time_us, operation, address, length_bytes, latency_ns: None };
        Ok(Some(Event::of_request(record, request.device, RequestKind::of(request.letters))))
    }
}

impl PerfScript {
    /// Tracks requeues and completions. Unreadable lines are ignored.
    fn follow(&mut self, line: &str) {
        let told = |event: &str| {
            let (_, after) = line.split_once(event)?;
            let request = request(after).ok()??;
            Some(key(request.device, request.letters, request.address))
        };
        if let Some(key) = told(REQUEUE) {
            self.requeues.requeue(key);
        } else if let Some(key) = told(COMPLETE) {
            self.requeues.complete(&key);
        }
    }
}

fn key(device: &str, letters: &str, address: u64) -> Key {
    (device.to_owned(), letters.to_owned(), address)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Operation;

    fn record(line: &str) -> Option<Record> {
        PerfScript::default().parse(line).unwrap().map(|event| event.record)
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
    fn requeued_request_counts_once() {
        let line =
            |event, time| format!(" dd 1 [000] {time}: block:block_rq_{event}: 8,0 W 4096 () 16 + 8 [dd]");
        let mut parser = PerfScript::default();
        let events =
            [("issue", "1.5"), ("requeue", "1.6"), ("issue", "1.7"), ("complete", "1.8"), ("issue", "1.9")];
        let events: Vec<_> = events.map(|(event, time)| parser.parse(&line(event, time)).unwrap()).into();
        let times: Vec<_> = events.into_iter().flatten().map(|event| event.record.time_us).collect();
        assert_eq!(times, [1_500_000, 1_900_000]);
    }

    #[test]
    fn flushes_are_syncs_and_other_lines_are_skipped() {
        let flush =
            " kworker/0:0H-kb 10 [000] 1.5: block:block_rq_issue: 254,0 FF 0 () 0 + 0 0x0,0,0 [kworker/0:0H]";
        assert_eq!(record(flush).map(|record| record.operation), Some(Operation::Sync));
        let old = " kworker/0 10 [000] 1.5: block:block_rq_issue: 8,16 FF 0 () 18446744073709551615 + 0 [kworker/0]";
        assert_eq!(record(old).map(|record| record.length_bytes), Some(0));
        let oldest = old.replace("FF 0", "FWS 0");
        assert_eq!(record(&oldest).map(|record| record.operation), Some(Operation::Sync));
        assert_eq!(record(&old.replace("FF 0", "WS 0").replace("18446744073709551615", "0")), None);
        assert_eq!(record("# captured on: Sat Nov 21"), None);
        assert!(
            PerfScript::default().parse(" dd 1 [0] 1.5: block:block_rq_issue: 254,0 WS 8192 ()").is_err()
        );
    }
}
