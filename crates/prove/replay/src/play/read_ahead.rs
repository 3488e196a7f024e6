use std::collections::VecDeque;

use nandle_trace::{Record, TraceError};

/// Records that are kept ready, so that a request isn't late because the trace was being read.
const AHEAD: usize = 8192;
/// Records that are read at once while there is time.
const CHUNK: usize = 64;

/// The records of a trace, read ahead while there is nothing else to do.
pub(super) struct Ahead<I> {
    records: I,
    ready: VecDeque<Record>,
    ended: bool,
}

impl<I: Iterator<Item = Result<Record, TraceError>>> Ahead<I> {
    pub(super) fn new(records: I) -> Self {
        Self { records, ready: VecDeque::new(), ended: false }
    }

    pub(super) fn next(&mut self) -> Result<Option<Record>, TraceError> {
        match self.ready.pop_front() {
            Some(record) => Ok(Some(record)),
            None => self.records.next().transpose(),
        }
    }

    /// Reads a few more. `false` when there is enough.
    pub(super) fn read_some(&mut self) -> Result<bool, TraceError> {
        for _ in 0..CHUNK {
            if self.ended || self.ready.len() >= AHEAD {
                return Ok(false);
            }
            match self.records.next().transpose()? {
                Some(record) => self.ready.push_back(record),
                None => self.ended = true,
            }
        }
        Ok(true)
    }
}
