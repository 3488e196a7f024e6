//! Measuring what decoding costs the processor.

use std::collections::VecDeque;

use nandle_columns::{ColumnsError, StepBytes, StepData};

/// Steps that were read before they are decoded, so that reading isn't in the time of decoding.
pub(crate) struct Ahead {
    steps: VecDeque<StepData>,
}

impl Ahead {
    /// So many steps at most.
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

/// Steps of which there are fewer than a decoder expects, and it takes their end for an error.
pub(crate) struct Fewer<'a> {
    steps: &'a mut dyn StepBytes,
    is_exhausted: bool,
}

impl<'a> Fewer<'a> {
    /// Hands out these.
    pub(crate) fn new(steps: &'a mut dyn StepBytes) -> Self {
        Self { steps, is_exhausted: false }
    }

    /// Whether more were asked for than there are.
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
