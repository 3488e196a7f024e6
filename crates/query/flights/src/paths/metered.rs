use nandle_columns::{ColumnsError, StepBytes, StepData};
use nandle_io::Nanos;

use super::ThreadClock;

/// Processor time by step.
pub(super) type Spans = Vec<(u32, Nanos)>;

/// Source of steps that measures the processor time of their consumer.
pub(super) struct MeteredBytes<B> {
    inner: B,
    clock: ThreadClock,
    present: Option<(u32, Nanos)>,
    spans: Spans,
}

impl<B: StepBytes> MeteredBytes<B> {
    pub(super) fn new(inner: B, clock: ThreadClock) -> Self {
        Self { inner, clock, present: None, spans: Vec::new() }
    }

    /// Processor time of each step, up to now for the last one.
    pub(super) fn finish(mut self) -> Spans {
        self.end_step();
        self.spans
    }

    fn end_step(&mut self) {
        if let Some((step, began_at)) = self.present.take() {
            self.spans.push((step, (self.clock)().since(began_at)));
        }
    }
}

impl<B: StepBytes> StepBytes for MeteredBytes<B> {
    fn next_step(&mut self) -> Result<Option<StepData>, ColumnsError> {
        self.end_step();
        let data = self.inner.next_step()?;
        if let Some(data) = &data {
            self.present = Some((data.step, (self.clock)()));
        }
        Ok(data)
    }
}
