//! Completes requests from their parts.

use super::joint::{Joint, Part};
use super::world::Arrays;
use crate::{Completion, DeviceId, Durability, Operation};

impl Arrays {
    /// Takes a completion of the inner world; returns the completion of the request, if it was the
    /// last part.
    pub(super) fn finish(&mut self, done: Completion, into: &mut Vec<Completion>) {
        let index = usize::try_from(done.token).unwrap_or(usize::MAX);
        let Some(part) = self.parts.try_remove(index) else { return };
        if let Some(load) = self.loads.get_mut(done.device.index() as usize) {
            *load = load.saturating_sub(1);
        }
        match part {
            Part::Plain { token, submitted_at } => {
                self.plain_in_flight -= 1;
                into.push(Completion { token, submitted_at, ..done });
            }
            Part::Shared { .. } => self.finish_shared(&part, done, into),
        }
    }

    fn finish_shared(&mut self, part: &Part, done: Completion, into: &mut Vec<Completion>) {
        let Part::Shared { joint: index, array, ref fragments, .. } = *part else { return };
        let cause = done.result.err().map(|error| error.cause);
        if cause.is_some() {
            if let Some((child, again)) = self.on_other_leg(part, &done.operation) {
                self.send_part(child, again, done.operation);
                return;
            }
            self.latch(array, &done.operation);
        }
        let Some(joint) = self.joints.get_mut(index) else { return };
        joint.finish(fragments, done.completed_at, cause, done.operation);
        if joint.parts_left == 0 {
            into.extend(self.joints.try_remove(index).map(Joint::complete));
        }
    }

    /// Retry of a failed read on the mirror's other leg, unless it was tried before. Counts it.
    fn on_other_leg(&mut self, part: &Part, operation: &Operation) -> Option<(DeviceId, Part)> {
        let Part::Shared { joint, array: index, column, leg, ref fragments, retried: false } = *part else {
            return None;
        };
        let array = self.mapped.get_mut(index)?;
        if array.columns.legs().len() < 2 || !matches!(operation, Operation::Read { .. }) {
            return None;
        }
        let leg = leg.other();
        let child = array.columns.child(column, leg)?;
        array.read_retries += 1;
        let fragments = fragments.clone();
        Some((child, Part::Shared { joint, array: index, column, leg, fragments, retried: true }))
    }

    /// Latches the array after a failed flush, alone or within a durable write: its durable
    /// contents are unknown.
    fn latch(&mut self, array: usize, failed: &Operation) {
        let flushes =
            matches!(failed, Operation::Flush | Operation::Write { durability: Durability::Durable, .. });
        if let Some(array) = self.mapped.get_mut(array) {
            array.latched |= flushes;
        }
    }
}
