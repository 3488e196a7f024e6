//! Values of the leading column, shared by the counting threads.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::super::KeySpace;
use super::super::table::Groups;
use super::value::{ValueCounter, ValueKind};

/// Values of the leading column, shared by the counting threads.
pub(crate) struct Values {
    kind: ValueKind,
    /// Codes of the values in each row group.
    groups: Vec<Vec<u32>>,
    /// By code.
    slots: Vec<Mutex<Slot>>,
    /// Memory of all counters.
    held_bytes: AtomicUsize,
    max_bytes: usize,
}

#[derive(Default)]
struct Slot {
    /// Row groups with the value that aren't counted yet.
    groups_left: usize,
    /// Groups from the counted ones.
    parts: Vec<Groups>,
    is_mixed: bool,
}

/// State of a value's groups when a row group with it ends.
pub(super) enum Ended {
    /// Further row groups have the value.
    Kept,
    /// All its groups, in parts that may overlap.
    Complete(Vec<Groups>),
    /// Groups to be counted with the rest.
    Mixed(Vec<Groups>),
}

impl Values {
    /// With fewer cells, all groups fit in caches anyway.
    const CELLS_MIN: u64 = 1 << 17;

    /// Returns true if row groups have mostly distinct values, except for some that continue in the
    /// next one.
    fn are_apart(groups: &[Vec<u32>], values: usize) -> bool {
        let entries: usize = groups.iter().map(Vec::len).sum();
        entries <= values + groups.len() + values / 4
    }

    /// Above this number of rows, a value's table may exceed the caches, and partitions are better
    /// if they fit in memory.
    const VALUE_ROWS_MAX: u64 = 1 << 19;
    /// Memory per row in partitions, once its keys become groups.
    const ROW_BYTES: u64 = 16;

    /// Counts by values of the space's leading column. `groups` are the values in each row group.
    /// Returns `None` if that isn't worthwhile.
    pub(crate) fn new(space: &KeySpace, groups: Vec<Vec<u32>>, rows: u64, max_bytes: usize) -> Option<Self> {
        let values = space.leading_values();
        let value_rows = rows / values.max(1) as u64;
        let kind = ValueKind::of(space, value_rows);
        let is_worth_it = matches!(kind, ValueKind::Array { .. })
            || value_rows <= Self::VALUE_ROWS_MAX
            || rows.saturating_mul(Self::ROW_BYTES) > max_bytes as u64;
        if !is_worth_it || space.cells() < Self::CELLS_MIN || !Self::are_apart(&groups, values) {
            return None;
        }
        let mut slots: Vec<Slot> = Vec::new();
        slots.resize_with(values, Slot::default);
        for code in groups.iter().flatten() {
            slots.get_mut(*code as usize)?.groups_left += 1;
        }
        let slots = slots.into_iter().map(Mutex::new).collect();
        // Reserve memory for groups in transit.
        let max_bytes = max_bytes / 3 * 2;
        Some(Self { kind, groups, slots, held_bytes: AtomicUsize::new(0), max_bytes })
    }

    /// Values of a row group.
    pub(super) fn of_group(&self, group: usize) -> &[u32] {
        self.groups.get(group).map(Vec::as_slice).unwrap_or_default()
    }

    fn slot(&self, code: u32) -> MutexGuard<'_, Slot> {
        let Some(slot) = self.slots.get(code as usize) else { unreachable!("codes number the values") };
        slot.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Creates an empty counter, if there is memory.
    pub(super) fn counter(&self, space: &KeySpace) -> Option<ValueCounter> {
        self.reserve(self.kind.bytes_min()).then(|| ValueCounter::new(self.kind, space))
    }

    /// Enlarges a counter for further groups; returns false without memory.
    pub(super) fn make_room(&self, counter: &mut ValueCounter, groups: usize) -> bool {
        while counter.is_full(groups) {
            let before_bytes = counter.bytes();
            // The old table exists until the new one is filled.
            if !self.reserve(2 * before_bytes) {
                return false;
            }
            counter.grow();
            self.release(before_bytes);
        }
        true
    }

    fn reserve(&self, bytes: usize) -> bool {
        let with_these = |held: usize| held.checked_add(bytes).filter(|sum| *sum <= self.max_bytes);
        self.held_bytes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, with_these).is_ok()
    }

    fn release(&self, bytes: usize) {
        self.held_bytes.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Takes a counter's groups out. Returns false if they exceed the memory, and are to be counted
    /// with the rest.
    pub(super) fn close(&self, counter: &mut ValueCounter, space: &KeySpace) -> (Groups, bool) {
        let before_bytes = counter.bytes();
        let groups = counter.compact(space);
        let held_bytes = self.held_bytes.fetch_add(groups.bytes(), Ordering::Relaxed) + groups.bytes();
        self.release(before_bytes.saturating_sub(counter.bytes()));
        (groups, held_bytes <= self.max_bytes)
    }

    /// Releases the memory of groups that were handed out.
    pub(super) fn let_go(&self, groups: &Groups) {
        self.release(groups.bytes());
    }

    /// Marks a value as mixed. Returns its groups from other row groups.
    pub(super) fn mix(&self, code: u32) -> Vec<Groups> {
        let mut slot = self.slot(code);
        slot.is_mixed = true;
        std::mem::take(&mut slot.parts)
    }

    /// Ends a row group with this value; `groups` are its groups of it.
    pub(super) fn end(&self, code: u32, groups: Vec<Groups>) -> Ended {
        let mut slot = self.slot(code);
        slot.groups_left = slot.groups_left.saturating_sub(1);
        slot.parts.extend(groups);
        if slot.is_mixed {
            Ended::Mixed(std::mem::take(&mut slot.parts))
        } else if slot.groups_left == 0 {
            Ended::Complete(std::mem::take(&mut slot.parts))
        } else {
            Ended::Kept
        }
    }
}
