use nandle_columns::{ColumnsError, StepBytes, StepData, StreamedBytes};
use nandle_io::Nanos;

use super::ThreadClock;

/// Steps of a stream, and the processor time that their consumer spent on each.
pub(super) struct MeteredBytes<'a> {
    inner: StreamedBytes<'a>,
    clock: ThreadClock<'a>,
    began_at: Option<Nanos>,
    spans: Vec<Nanos>,
}

impl<'a> MeteredBytes<'a> {
    pub(super) fn new(inner: StreamedBytes<'a>, clock: ThreadClock<'a>) -> Self {
        Self { inner, clock, began_at: None, spans: Vec::new() }
    }

    /// The processor time of each step, the last one's until now.
    pub(super) fn finish(mut self) -> Vec<Nanos> {
        self.end_step();
        self.spans
    }

    fn end_step(&mut self) {
        if let Some(began_at) = self.began_at.take() {
            self.spans.push((self.clock)().since(began_at));
        }
    }
}

impl StepBytes for MeteredBytes<'_> {
    fn next_step(&mut self) -> Result<Option<StepData>, ColumnsError> {
        self.end_step();
        let data = self.inner.next_step()?;
        if data.is_some() {
            self.began_at = Some((self.clock)());
        }
        Ok(data)
    }
}
