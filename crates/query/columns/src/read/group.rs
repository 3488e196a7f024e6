use std::any::Any;
use std::sync::Arc;

use super::bytes::{StepBytes, StepData};
use super::chunk::Chunk;
use super::plan::{ScanPlan, Step};
use super::rows::Rows;
use crate::guard::guarded;
use crate::{ColumnsError, Place};

/// The row group being decoded: receives the bytes of steps and returns the rows of batches.
#[derive(Debug)]
pub(super) struct Group<'a> {
    plan: &'a ScanPlan,
    /// Number of the part to decode, and number of parts.
    part: (usize, usize),
    next_step: u32,
    /// Remaining batches of the current step, and its file and row group.
    batches: std::slice::Iter<'a, Rows>,
    present: Option<(usize, usize)>,
    chunks: Vec<Chunk>,
    /// Incremented for each row group.
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

    /// Number of the row group in the plan.
    pub(super) fn plan_group(&self) -> usize {
        let present = self.next_step.checked_sub(1).and_then(|step| self.plan.step(step));
        present.map_or(0, |step| step.group)
    }

    pub(super) const fn number(&self) -> u32 {
        self.number
    }

    /// Bytes in memory of each column of the plan.
    pub(super) fn chunks(&mut self) -> &mut [Chunk] {
        &mut self.chunks
    }

    /// Returns true if the next batch needs another step.
    pub(super) fn step_is_done(&self) -> bool {
        self.batches.len() == 0
    }

    /// Returns the rows of the next batch, or `None` after the last. Takes the bytes of another
    /// step if needed.
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

    /// Releases the bytes of the steps before `next`, except pages that it shares.
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
