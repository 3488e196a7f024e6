//! The values of the leading column, shared by the threads that count.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::super::KeySpace;
use super::super::table::Groups;
use super::value::{ValueCounter, ValueKind};

/// The values of the leading column, shared by the threads that count.
pub(crate) struct Values {
    kind: ValueKind,
    /// The values of each row group, by code.
    groups: Vec<Vec<u32>>,
    /// By code.
    slots: Vec<Mutex<Slot>>,
    /// Memory of all counters.
    held_bytes: AtomicUsize,
    max_bytes: usize,
}

#[derive(Default)]
struct Slot {
    /// Row groups that have the value and are not yet counted.
    groups_left: usize,
    /// What was counted of the others.
    parts: Vec<Groups>,
    is_mixed: bool,
}

/// What becomes of a value's groups when a row group ends that has it.
pub(super) enum Ended {
    /// Other row groups have the value.
    Kept,
    /// All its groups, in parts that may have some in common.
    Complete(Vec<Groups>),
    /// Groups that are to be counted with the rest.
    Mixed(Vec<Groups>),
}

impl Values {
    /// In fewer cells all groups are counted in caches anyway.
    const CELLS_MIN: u64 = 1 << 17;

    /// Whether counting by value is worth it: each row group has values of its own, but for some that go on in the next one.
    fn are_apart(groups: &[Vec<u32>], values: usize) -> bool {
        let entries: usize = groups.iter().map(Vec::len).sum();
        entries <= values + groups.len() + values / 4
    }

    /// With more rows than this, a value's table may be longer than caches, and partitions do better where memory has room for them.
    const VALUE_ROWS_MAX: u64 = 1 << 19;
    /// Memory of a row in partitions, once its keys become groups.
    const ROW_BYTES: u64 = 16;

    /// Counts value by value of the space's leading column, in so much memory; `groups` are the values that each row group has. None
    /// where it isn't worth it.
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
        // Besides what is held, groups are on their way from one place to another.
        let max_bytes = max_bytes / 3 * 2;
        Some(Self { kind, groups, slots, held_bytes: AtomicUsize::new(0), max_bytes })
    }

    /// The values of a row group.
    pub(super) fn of_group(&self, group: usize) -> &[u32] {
        self.groups.get(group).map(Vec::as_slice).unwrap_or_default()
    }

    fn slot(&self, code: u32) -> MutexGuard<'_, Slot> {
        let Some(slot) = self.slots.get(code as usize) else { unreachable!("codes number the values") };
        slot.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An empty counter, if there is memory.
    pub(super) fn counter(&self, space: &KeySpace) -> Option<ValueCounter> {
        self.reserve(self.kind.bytes_min()).then(|| ValueCounter::new(self.kind, space))
    }

    /// Makes room for more groups in a counter; whether there is memory for that.
    pub(super) fn make_room(&self, counter: &mut ValueCounter, groups: usize) -> bool {
        while counter.is_full(groups) {
            let before_bytes = counter.bytes();
            // The old table is there until the new one is filled.
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

    /// Takes a counter's groups out. False: they take more memory than there is, and are to be counted with the rest.
    pub(super) fn close(&self, counter: &mut ValueCounter, space: &KeySpace) -> (Groups, bool) {
        let before_bytes = counter.bytes();
        let groups = counter.compact(space);
        let held_bytes = self.held_bytes.fetch_add(groups.bytes(), Ordering::Relaxed) + groups.bytes();
        self.release(before_bytes.saturating_sub(counter.bytes()));
        (groups, held_bytes <= self.max_bytes)
    }

    /// Groups are handed out, and their memory is free.
    pub(super) fn let_go(&self, groups: &Groups) {
        self.release(groups.bytes());
    }

    /// Some of a value's rows are counted otherwise. Returns what was counted of it in other row groups.
    pub(super) fn mix(&self, code: u32) -> Vec<Groups> {
        let mut slot = self.slot(code);
        slot.is_mixed = true;
        std::mem::take(&mut slot.parts)
    }

    /// A row group with this value was counted, and has these groups of it.
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
