//! Counting thread: by values of a column where possible, and the rest in memory that is emptied
//! when full.

use std::sync::Arc;

use super::CubeError;
use super::workers::Outlet;
use crate::count::{Finished, ValuePart, Values};
use crate::{CodeBatch, KeySpace, MemoryCounter};

/// Counters of a thread.
pub(super) struct Part<'a> {
    outlet: &'a Outlet,
    by_value: Option<ValuePart>,
    rest: MemoryCounter,
}

/// Counts of a thread that weren't handed out.
pub(super) struct Counted {
    pub(super) rest: MemoryCounter,
    /// Rows counted by values.
    pub(super) rows: u64,
}

impl<'a> Part<'a> {
    /// Groups per batch that is counted with the rest.
    const GROUPS_AT_ONCE: usize = 1 << 15;

    pub(super) fn new(
        outlet: &'a Outlet,
        space: &Arc<KeySpace>,
        values: Option<&Arc<Values>>,
        rest: MemoryCounter,
    ) -> Self {
        let by_value = values.map(|values| ValuePart::new(space, values));
        Self { outlet, by_value, rest }
    }

    /// Counts rows of one of the plan's row groups.
    pub(super) fn count(mut self, group: usize, batch: &CodeBatch<'_>) -> Result<Self, CubeError> {
        let mut from = 0;
        if let Some(by_value) = &mut self.by_value {
            let mut finished = by_value.begin(group);
            from = by_value.try_push(batch);
            if from < batch.rows() {
                finished.extend(by_value.give_up());
            }
            self = self.hand_out(finished)?;
        }
        from = self.rest.try_push(batch, from);
        while from < batch.rows() {
            self = self.emptied()?;
            from = self.rest.try_push(batch, from);
        }
        Ok(self)
    }

    /// Ends counting after the last batch.
    pub(super) fn finish(mut self) -> Result<Counted, CubeError> {
        let finished = self.by_value.as_mut().map(ValuePart::end).unwrap_or_default();
        let Self { by_value, rest, .. } = self.hand_out(finished)?;
        Ok(Counted { rest, rows: by_value.map_or(0, |by_value| by_value.rows) })
    }

    /// Hands out complete groups; counts others with the rest.
    fn hand_out(mut self, finished: Vec<Finished>) -> Result<Self, CubeError> {
        for mut finished in finished {
            if finished.are_all {
                while let Some(groups) = finished.next_batch()? {
                    self.outlet.hand_out(groups)?;
                }
            } else {
                self = self.add_to_rest(&mut finished)?;
            }
            if let Some(by_value) = &mut self.by_value {
                by_value.let_go(&finished);
            }
        }
        Ok(self)
    }

    fn add_to_rest(mut self, finished: &mut Finished) -> Result<Self, CubeError> {
        loop {
            let pairs = finished.next_pairs(Self::GROUPS_AT_ONCE);
            if pairs.is_empty() {
                return Ok(self);
            }
            if self.rest.try_add_groups(&pairs) {
                continue;
            }
            self = self.emptied()?;
            if !self.rest.try_add_groups(&pairs) {
                return Err(self.rest.no_room().into());
            }
        }
    }

    fn emptied(self) -> Result<Self, CubeError> {
        let rest = self.outlet.emptied(self.rest)?;
        Ok(Self { rest, ..self })
    }
}
