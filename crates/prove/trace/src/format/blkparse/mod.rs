//! The text of `blkparse` in its default format:
//!
//! ```text
//!   8,0    3        1     0.000000000   697  D   W 223490 + 8 [kjournald]
//! device  cpu  sequence        seconds   pid  action rwbs sector + sectors [process]
//! ```
//!
//! A request is counted when it is issued to the device (action `D`), once, even if it is requeued
//! (`R`). Stacked devices, such as those of the device mapper, forward queued requests (`Q`) and
//! have no `D`: their requests are counted when queued. Other actions repeat the same requests, and
//! the summary at the end has none.

mod layer;
mod line;

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use self::layer::Layer;
use self::line::{Action, Line};
use super::requeue::Requeues;
use super::{Event, Parser};

pub(super) use self::line::begins;

/// Maximum number of devices whose requests are held.
const DEVICES_MAX: usize = 1024;

#[derive(Default)]
pub(super) struct Blkparse {
    requeues: Requeues,
    layers: FxHashMap<String, Layer>,
    ready: VecDeque<Event>,
}

impl Parser for Blkparse {
    fn parse(&mut self, text: &str) -> Result<Option<Event>, String> {
        let Some(line) = Line::parse(text)? else { return Ok(None) };
        if line.action == Action::Requeued {
            self.requeues.requeue(line.key());
            return Ok(None);
        }
        if line.action == Action::Completed {
            self.requeues.complete(&line.key());
        }
        let counts_again = line.action == Action::Issued && !self.requeues.issue(line.key());
        if !self.layers.contains_key(line.device) {
            if self.layers.len() >= DEVICES_MAX {
                return Err(format!("the trace has more than {DEVICES_MAX} devices"));
            }
            self.layers.insert(line.device.to_owned(), Layer::default());
        }
        let Some(layer) = self.layers.get_mut(line.device) else { return Ok(None) };
        match line.action {
            Action::Queued => self.ready.extend(layer.queue(&line)),
            Action::Completed => self.ready.extend(layer.complete(&line)),
            Action::Issued => return Ok(layer.issue(&line)?.filter(|_| !counts_again)),
            Action::Requeued => {}
        }
        Ok(None)
    }

    fn take_held(&mut self) -> Option<Event> {
        self.ready.pop_front()
    }

    fn end(&mut self) {
        // Merge the held events of all devices by time.
        let mut held: Vec<Event> = self.layers.values_mut().flat_map(Layer::end).collect();
        held.sort_by_key(|event| event.record.time_us);
        self.ready.extend(held);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Operation, Record};

    fn records(lines: &str) -> Vec<Record> {
        let mut parser = Blkparse::default();
        let mut records = Vec::new();
        let mut take = |parser: &mut Blkparse, event: Option<Event>| {
            records.extend(event.map(|event| event.record));
            records.extend(std::iter::from_fn(|| parser.take_held()).map(|event| event.record));
        };
        for line in lines.lines() {
            let event = parser.parse(line).unwrap();
            take(&mut parser, event);
        }
        parser.end();
        take(&mut parser, None);
        records
    }

    #[test]
    fn issued_request_is_an_event() {
        let issued = "  8,0    3        1     0.000120345   697  D   W 223490 + 8 [kjournald]";
        let expected = Record {
            time_us: 120,
            operation: Operation::Write,
            address: 223_490 * 512,
            length_bytes: 4096,
            latency_ns: None,
        };
        assert_eq!(records(issued), [expected]);
        let event = Blkparse::default().parse(issued).unwrap().unwrap();
        assert_eq!(event.device.as_deref(), Some("8,0"));
        for letters in ["FF", "FWS", "FN"] {
            let flush = format!("  8,0    1        7     0.000500000   697  D {letters} [jbd2/sda1-8]");
            assert_eq!(records(&flush)[0].operation, Operation::Sync);
        }
        let write = "  8,0    1        7     0.000500000   697  D WS [jbd2/sda1-8]";
        assert!(Blkparse::default().parse(write).is_err(), "a write needs a sector");
    }

    #[test]
    fn other_lines_are_skipped() {
        let text = "  8,0    3        1     0.000000000   697  D   W 16 + 8 [kjournald]
  8,0    3        2     0.000000001   697  Q   W 223490 + 8 [kjournald]
  8,0    3        3     0.000000001     0  C   W 223490 + 8 [0]
CPU0 (8,0):
 Reads Queued:           0,        0KiB\t Writes Queued:           7,      128KiB
";
        assert_eq!(records(text).len(), 1);
    }

    #[test]
    fn requeued_request_counts_at_its_first_issue() {
        let text = "  8,0    1       11     0.000802000  2100  D   R 4096 + 16 [app]
  8,0    1       12     0.000803000  2100  R   R 4096 + 16 [0]
  8,0    1       13     0.000900000  2100  D   R 4096 + 16 [app]
  8,0    1       14     0.001000000     0  C   R 4096 + 16 [0]
  8,0    1       15     0.002000000  2100  D   R 4096 + 16 [app]
";
        let times: Vec<_> = records(text).iter().map(|record| record.time_us).collect();
        assert_eq!(times, [802, 2000]);
    }

    #[test]
    fn stacked_devices_count_queued_requests() {
        let text = "253,3    2        1     0.000755797 11721  Q   R 385152 + 128 [guest]
253,3    2        2     0.001755797 11721  C   R 385152 + 128 [0]
253,3    2        3     0.036427203 11721  Q  WS 101991040 + 128 [guest]
253,3    2        4     0.036927203 11721  C  WS 101991040 + 128 [0]
";
        let operations: Vec<_> = records(text).iter().map(|record| record.operation).collect();
        assert_eq!(operations, [Operation::Read, Operation::Write]);
    }

    #[test]
    fn damaged_line_is_an_error() {
        let complaint =
            Blkparse::default().parse("  8,0    3  1  0.0  697  D   W 2234x0 + 8 [k]").unwrap_err();
        assert!(complaint.contains("the sector should be"), "{complaint}");
        assert!(Blkparse::default().parse("  8,0    3  1  0.0  697  D   W 2234 - 8 [k]").is_err());
    }
}
