use std::any::Any;
use std::sync::Arc;

use bytes::Bytes;

use super::plan::ScanPlan;
use crate::ColumnsError;

/// Bytes of a step. A decoder drops them, with all references to them, before it requests the next
/// step.
#[derive(Debug)]
pub struct StepData {
    /// Number of the step.
    pub step: u32,
    /// Bytes of each want, in the order of [`ScanPlan::wants`].
    pub parts: Vec<Bytes>,
    /// Released together with the bytes.
    pub held: Option<Arc<dyn Any + Send + Sync>>,
}

/// Source of a scan's bytes; decoding is independent of it.
pub trait StepBytes {
    /// Returns the bytes of the next step in order, or `None` after the last.
    ///
    /// # Errors
    /// They can't be read, or are damaged.
    fn next_step(&mut self) -> Result<Option<StepData>, ColumnsError>;
}

/// Reads wants one by one in the calling thread, and verifies checksums.
#[derive(Debug)]
pub struct DirectBytes<'a> {
    plan: &'a ScanPlan,
    /// Number of its part, and number of parts.
    part: (usize, usize),
    next: u32,
}

impl<'a> DirectBytes<'a> {
    /// Reads all steps of a plan.
    pub const fn new(plan: &'a ScanPlan) -> Self {
        Self::of_part(plan, 0, 1)
    }

    /// Reads the steps of one part of a plan: every `parts`th row group.
    pub const fn of_part(plan: &'a ScanPlan, part: usize, parts: usize) -> Self {
        Self { plan, part: (part, parts), next: 0 }
    }
}

impl StepBytes for DirectBytes<'_> {
    fn next_step(&mut self) -> Result<Option<StepData>, ColumnsError> {
        let (part, parts) = self.part;
        while self.plan.part_of(self.next, parts).is_some_and(|other| other != part) {
            self.next += 1;
        }
        let step = self.next;
        let Some(wants) = self.plan.wants_of(step) else { return Ok(None) };
        self.next += 1;
        let read = wants.iter().map(|want| {
            let Some(file) = self.plan.files().get(want.file.0 as usize) else {
                unreachable!("a plan's wants are of its files")
            };
            file.read(want.offset_bytes..want.end_bytes())
        });
        Ok(Some(StepData { step, parts: read.collect::<Result<_, _>>()?, held: None }))
    }
}
