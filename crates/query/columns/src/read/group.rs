use std::any::Any;
use std::sync::Arc;

use super::bytes::{StepBytes, StepData};
use super::chunk::Chunk;
use super::plan::{ScanPlan, Step};
use super::rows::Rows;
use crate::guard::guarded;
use crate::{ColumnsError, Place};

/// The row group that is being decoded: takes the bytes of steps, hands out the rows of batches.
#[derive(Debug)]
pub(super) struct Group<'a> {
    plan: &'a ScanPlan,
    /// Which of so many parts of the plan is decoded.
    part: (usize, usize),
    next_step: u32,
    /// The batches of the present step that are still to come, and its file and row group.
    batches: std::slice::Iter<'a, Rows>,
    present: Option<(usize, usize)>,
    chunks: Vec<Chunk>,
    /// Rises with each row group.
    number: u32,
    held: Option<Arc<dyn Any + Send + Sync>>,
}

impl<'a> Group<'a> {
    pub(super) fn of_part(plan: &'a ScanPlan, part: usize, parts: usize) -> Self {
        Self {
            plan,
            part: (part, parts),
            next_step: 0,
            batches: [].iter(),
            present: None,
            chunks: Vec::new(),
            number: 0,
            held: None,
        }
    }

    pub(super) const fn plan(&self) -> &'a ScanPlan {
        self.plan
    }

    pub(super) fn file(&self) -> usize {
        self.present.map_or(0, |(file, _)| file)
    }

    /// Which of the plan's row groups it is.
    pub(super) fn plan_group(&self) -> usize {
        let present = self.next_step.checked_sub(1).and_then(|step| self.plan.step(step));
        present.map_or(0, |step| step.group)
    }

    pub(super) const fn number(&self) -> u32 {
        self.number
    }

    /// What is in memory of each column of the plan.
    pub(super) fn chunks(&mut self) -> &mut [Chunk] {
        &mut self.chunks
    }

    /// Whether another step's bytes are needed for the next batch.
    pub(super) fn step_is_done(&self) -> bool {
        self.batches.len() == 0
    }

    /// The rows of the next batch; `None` after the last. Takes the bytes of another step where that is needed.
    pub(super) fn next_rows(&mut self, bytes: &mut dyn StepBytes) -> Result<Option<Rows>, ColumnsError> {
        while self.step_is_done() {
            while self.plan.part_of(self.next_step, self.part.1).is_some_and(|part| part != self.part.0) {
                self.next_step += 1;
            }
            let Some(step) = self.plan.step(self.next_step) else { return Ok(None) };
            self.release(step)?;
            let data = if self.plan.wants().is_empty() { None } else { bytes.next_step()? };
            match data {
                Some(data) => self.take(step, data)?,
                None if self.plan.wants().is_empty() => {
                    self.take(step, StepData { step: self.next_step, parts: Vec::new(), held: None })?;
                }
                None => return Err(misuse(format!("bytes end before step {}", self.next_step))),
            }
        }
        Ok(self.batches.next().cloned())
    }

    /// Lets go of the bytes of the steps before `next`, but for pages that it needs as well.
    fn release(&mut self, next: &Step) -> Result<(), ColumnsError> {
        let same_group = self.present == Some((next.file, next.row_group));
        let row = next
            .batches
            .first()
            .and_then(|rows| rows.first())
            .map(|range| range.start)
            .filter(|_| same_group);
        for chunk in &mut self.chunks {
            let place = chunk.place.clone();
            guarded(&place, || chunk.release(row))?;
        }
        self.held = None;
        Ok(())
    }

    fn take(&mut self, step: &'a Step, data: StepData) -> Result<(), ColumnsError> {
        let columns = self.plan.want_columns_of(step);
        let wants = self.plan.wants_of(self.next_step).unwrap_or_default();
        let lengths = wants.iter().map(|want| want.length_bytes);
        if data.step != self.next_step || !lengths.eq(data.parts.iter().map(|part| part.len() as u64)) {
            let (got, parts, expected) = (data.step, data.parts.len(), self.next_step);
            return Err(misuse(format!(
                "step {got} came with {parts} parts where step {expected} wants {}",
                wants.len()
            )));
        }
        if self.present != Some((step.file, step.row_group)) {
            self.open(step);
        }
        for ((want, column), part) in wants.iter().zip(columns).zip(data.parts) {
            let Some(chunk) = self.chunks.get(*column) else {
                unreachable!("a want is one of the plan's columns")
            };
            chunk.add(want.offset_bytes, part);
        }
        self.held = data.held;
        self.batches = step.batches.iter();
        self.next_step += 1;
        Ok(())
    }

    fn open(&mut self, step: &Step) {
        let Some(file) = self.plan.files().get(step.file) else {
            unreachable!("a plan's steps are of its files")
        };
        let chunk = |column: &super::file::Column| {
            let place = Place::of_chunk(file.name(), step.row_group, column.field.name());
            Chunk::new(place, file.metadata(), step.row_group, column)
        };
        self.chunks = self.plan.columns_of(step.file).iter().map(chunk).collect();
        self.present = Some((step.file, step.row_group));
        self.number += 1;
    }
}

fn misuse(what: String) -> ColumnsError {
    ColumnsError::Misuse { what, mend: "hand over the bytes of every want of every step, in order" }
}
