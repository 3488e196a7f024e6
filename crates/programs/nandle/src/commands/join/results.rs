//! Records of the result.

use std::sync::Mutex;

use nandle_spill::{JoinSink, Row, SpillError};

use crate::commands::rows::{Output, lock};

/// How records are put together.
pub(super) struct Form {
    pub(super) is_csv: bool,
    /// Behind a record without a partner.
    pub(super) padding: Vec<u8>,
}

/// Collects records of a thread, and hands whole ones to the output.
pub(super) struct Results<'a> {
    output: &'a Mutex<Output>,
    form: Form,
    records: Vec<u8>,
    batch_bytes: usize,
}

/// Why a join ends early.
pub(super) enum Ended {
    Failed(SpillError),
    /// The reader of the result has gone away, or it can't be written; the output says which.
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

    /// Adds a record and other fields, or what is in their place. False: the result is wanted no more.
    pub(super) fn push(&mut self, record: &[u8], others: Option<&[u8]>) -> bool {
        // A line of CSV ends with two bytes, the first of which came with the record.
        let (record, end): (&[u8], &[u8]) = match record.strip_suffix(b"\r") {
            Some(record) if self.form.is_csv => (record, b"\r\n"),
            _ => (record, b"\n"),
        };
        self.records.extend_from_slice(record);
        self.records.extend_from_slice(others.unwrap_or(&self.form.padding));
        self.records.extend_from_slice(end);
        self.records.len() < self.batch_bytes || self.send()
    }

    /// Hands over what is there. False: it is wanted no more.
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
