//! Measuring what decoding costs the processor.

use std::collections::VecDeque;

use nandle_columns::{ColumnsError, StepBytes, StepData};
use rustix::time::{ClockId, clock_gettime};

/// Steps that were read before they are decoded, so that reading isn't in the time of decoding.
pub(crate) struct Ahead(VecDeque<StepData>);

impl Ahead {
    /// So many steps at most.
    pub(crate) fn read(bytes: &mut dyn StepBytes, steps_max: usize) -> Result<Self, ColumnsError> {
        let mut steps = VecDeque::new();
        while steps.len() < steps_max
            && let Some(step) = bytes.next_step()?
        {
            steps.push_back(step);
        }
        Ok(Self(steps))
    }
}

impl StepBytes for Ahead {
    fn next_step(&mut self) -> Result<Option<StepData>, ColumnsError> {
        Ok(self.0.pop_front())
    }
}

/// Processor time of this thread.
pub(crate) fn cpu_ns() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_nsec.cast_unsigned()
}
