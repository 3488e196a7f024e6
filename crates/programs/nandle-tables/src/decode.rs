//! Measures the processor cost of decoding.

use std::collections::VecDeque;

use nandle_columns::{ColumnsError, StepBytes, StepData};

/// Steps read in advance, so that decoding is timed alone.
pub(crate) struct Ahead {
    steps: VecDeque<StepData>,
}

impl Ahead {
    /// Reads at most `steps_max` steps.
    pub(crate) fn read(bytes: &mut dyn StepBytes, steps_max: usize) -> Result<Self, ColumnsError> {
        let mut steps = VecDeque::new();
        while steps.len() < steps_max
            && let Some(step) = bytes.next_step()?
        {
            steps.push_back(step);
        }
        Ok(Self { steps })
    }
}

impl StepBytes for Ahead {
    fn next_step(&mut self) -> Result<Option<StepData>, ColumnsError> {
        Ok(self.steps.pop_front())
    }
}

/// Fewer steps than a decoder expects, which it reports as an error at the end.
pub(crate) struct Fewer<'a> {
    steps: &'a mut dyn StepBytes,
    is_exhausted: bool,
}

impl<'a> Fewer<'a> {
    /// Passes on these steps.
    pub(crate) fn new(steps: &'a mut dyn StepBytes) -> Self {
        Self { steps, is_exhausted: false }
    }

    /// Returns true if the steps ran out.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.is_exhausted
    }
}

impl StepBytes for Fewer<'_> {
    fn next_step(&mut self) -> Result<Option<StepData>, ColumnsError> {
        let step = self.steps.next_step()?;
        self.is_exhausted |= step.is_none();
        Ok(step)
    }
}
