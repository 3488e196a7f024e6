use std::collections::VecDeque;

use nandle_trace::{Record, TraceError};

/// Records kept ready, so that reading the trace doesn't delay a request.
const AHEAD: usize = 8192;
/// Records read at a time while the player is idle.
const CHUNK: usize = 64;

/// Reads the records of a trace ahead while the player is idle.
pub(super) struct ReadAhead<I> {
    records: I,
    ready: VecDeque<Record>,
    ended: bool,
}

impl<I: Iterator<Item = Result<Record, TraceError>>> ReadAhead<I> {
    pub(super) fn new(records: I) -> Self {
        Self { records, ready: VecDeque::new(), ended: false }
    }

    pub(super) fn next(&mut self) -> Result<Option<Record>, TraceError> {
        match self.ready.pop_front() {
            Some(record) => Ok(Some(record)),
            None => self.records.next().transpose(),
        }
    }

    /// Reads a few more records. Returns false if enough are ready.
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
