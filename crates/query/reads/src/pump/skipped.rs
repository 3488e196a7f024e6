use std::collections::BTreeSet;
use std::ops::Range;

use crate::{Plan, PlannedRead};

/// Steps that are wanted no more, and the extents that are therefore not read.
#[derive(Debug, Default)]
pub(crate) struct Skipped {
    steps: BTreeSet<u32>,
    /// Whether a step that is left wants something of an extent; empty while no step is skipped.
    is_wanted: Vec<bool>,
    /// Extents of which the first request wasn't sent.
    left_out: BTreeSet<u32>,
}

impl Skipped {
    /// Leaves steps out; those before `next_step` were handed out.
    pub(crate) fn add(&mut self, steps: Range<u32>, plan: &Plan, next_step: u32) {
        self.steps.extend(steps.start.max(next_step)..steps.end.min(plan.steps()));
        if self.steps.is_empty() {
            return;
        }
        self.is_wanted = vec![false; plan.extents.len()];
        for step in (next_step..plan.steps()).filter(|step| !self.steps.contains(step)) {
            let extents = plan.want_extents.get(plan.want_indices(step)).unwrap_or_default();
            for extent in extents.iter().flatten() {
                if let Some(is_wanted) = self.is_wanted.get_mut(*extent as usize) {
                    *is_wanted = true;
                }
            }
        }
    }

    pub(crate) fn contains(&self, step: u32) -> bool {
        self.steps.contains(&step)
    }

    /// Whether a request isn't to be sent: an extent is read as a whole, or not at all.
    pub(crate) fn leaves_out(&mut self, read: &PlannedRead, plan: &Plan) -> bool {
        let is_wanted = self.is_wanted.get(read.extent as usize).copied().unwrap_or(true);
        let is_first =
            plan.extents.get(read.extent as usize).is_some_and(|extent| extent.is_sent_first(read));
        if is_first && !is_wanted {
            self.left_out.insert(read.extent);
        }
        self.left_out.contains(&read.extent)
    }
}
