use std::any::Any;
use std::sync::Arc;

use bytes::Bytes;

use super::plan::ScanPlan;
use crate::ColumnsError;

/// The bytes of a step. A decoder has dropped them, and all that refers to them, before it asks for the next step.
#[derive(Debug)]
pub struct StepData {
    /// The step's number.
    pub step: u32,
    /// The bytes of each of its wants, in their order in [`ScanPlan::wants`].
    pub parts: Vec<Bytes>,
    /// What is to be dropped when the bytes aren't needed any more.
    pub held: Option<Arc<dyn Any + Send + Sync>>,
}

/// What reads a scan's wants: decoding is independent of it.
pub trait StepBytes {
    /// The bytes of the next step, in order from 0 on; `None` after the last.
    ///
    /// # Errors
    /// They can't be read, or are not what was written.
    fn next_step(&mut self) -> Result<Option<StepData>, ColumnsError>;
}

/// Reads one want after the other in the calling thread, and checks sums.
#[derive(Debug)]
pub struct DirectBytes<'a> {
    plan: &'a ScanPlan,
    /// Which of so many parts of the plan is read.
    part: (usize, usize),
    next: u32,
}

impl<'a> DirectBytes<'a> {
    /// Reads for a scan.
    pub const fn new(plan: &'a ScanPlan) -> Self {
        Self::of_part(plan, 0, 1)
    }

    /// Reads the steps of one of several parts of a plan: every so-manieth row group.
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
