//! Assembles the records of the result.

use std::sync::Mutex;

use nandle_spill::{JoinSink, Row, SpillError};

use crate::commands::rows::{Output, lock};

/// Layout of joined records.
pub(super) struct Form {
    pub(super) is_csv: bool,
    /// Follows a record without a partner.
    pub(super) padding: Vec<u8>,
}

/// Collects a thread's records and passes full buffers to the output.
pub(super) struct Results<'a> {
    output: &'a Mutex<Output>,
    form: Form,
    records: Vec<u8>,
    batch_bytes: usize,
}

/// Reason for ending a join early.
pub(super) enum Ended {
    Failed(SpillError),
    /// The output was closed or failed; it holds the cause.
    NothingWanted,
}

impl From<SpillError> for Ended {
    fn from(error: SpillError) -> Self {
        Self::Failed(error)
    }
}

impl<'a> Results<'a> {
    pub(super) fn new(output: &'a Mutex<Output>, form: Form, batch_bytes: usize) -> Self {
        Self { output, form, records: Vec::new(), batch_bytes }
    }

    /// Appends a record and the other file's fields, or padding. Returns false if no more output is
    /// wanted.
    pub(super) fn push(&mut self, record: &[u8], others: Option<&[u8]>) -> bool {
        // A CSV line ends with two bytes; the first came with the record.
        let (record, end): (&[u8], &[u8]) = match record.strip_suffix(b"\r") {
            Some(record) if self.form.is_csv => (record, b"\r\n"),
            _ => (record, b"\n"),
        };
        self.records.extend_from_slice(record);
        self.records.extend_from_slice(others.unwrap_or(&self.form.padding));
        self.records.extend_from_slice(end);
        self.records.len() < self.batch_bytes || self.send()
    }

    /// Passes the buffer to the output. Returns false if no more output is wanted.
    pub(super) fn send(&mut self) -> bool {
        let mut output = lock(self.output);
        let is_wanted = output.push(&self.records, &[]);
        self.records.clear();
        is_wanted
    }
}

impl JoinSink for Results<'_> {
    type Error = Ended;

    async fn row(&mut self, build: Option<Row<'_>>, probe: Row<'_>) -> Result<(), Ended> {
        if self.push(probe.payload, build.map(|build| build.payload)) {
            Ok(())
        } else {
            Err(Ended::NothingWanted)
        }
    }
}
