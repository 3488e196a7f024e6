use std::collections::BTreeSet;
use std::ops::Range;

use crate::{Plan, PlannedRead};

/// Skipped steps, and the extents that need no read because of them.
#[derive(Debug, Default)]
pub(crate) struct Skipped {
    steps: BTreeSet<u32>,
    /// Number of remaining wants per extent; `None` while no step is skipped.
    wants_left: Option<Vec<u32>>,
    /// Extents skipped from their first request on.
    left_out: BTreeSet<u32>,
}

impl Skipped {
    /// Skips steps, except those before `next_step`, which were handed out.
    pub(crate) fn add(&mut self, steps: Range<u32>, plan: &Plan, next_step: u32) {
        for step in steps.start.max(next_step)..steps.end.min(plan.steps()) {
            if !self.steps.insert(step) {
                continue;
            }
            let wants_left = self.wants_left.get_or_insert_with(|| wants_of_extents(plan));
            for extent in plan.want_extents.get(plan.want_indices(step)).unwrap_or_default().iter().flatten()
            {
                let Some(left) = wants_left.get_mut(*extent as usize) else {
                    unreachable!("extent {extent} is the plan's")
                };
                *left -= 1;
            }
        }
    }

    pub(crate) fn contains(&self, step: u32) -> bool {
        self.steps.contains(&step)
    }

    /// Returns true if a request must not be sent. An extent is read as a whole or not at all.
    pub(crate) fn leaves_out(&mut self, read: &PlannedRead, plan: &Plan) -> bool {
        let Some(wants_left) = &self.wants_left else { return false };
        let is_wanted = wants_left.get(read.extent as usize).is_none_or(|left| *left > 0);
        let is_first =
            plan.extents.get(read.extent as usize).is_some_and(|extent| extent.is_sent_first(read));
        if is_first && !is_wanted {
            self.left_out.insert(read.extent);
        }
        self.left_out.contains(&read.extent)
    }
}

fn wants_of_extents(plan: &Plan) -> Vec<u32> {
    let mut wants = vec![0; plan.extents.len()];
    for extent in plan.want_extents.iter().flatten() {
        if let Some(wants) = wants.get_mut(*extent as usize) {
            *wants += 1;
        }
    }
    wants
}
