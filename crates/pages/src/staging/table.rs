use nandle_io::Buffer;
use rustc_hash::FxHashMap;

use super::space::Slot;
use crate::PageNumber;

/// The translation table: where the newest version of each staged page is.
#[derive(Debug, Default)]
pub(crate) struct Table {
    entries: FxHashMap<PageNumber, Entry>,
}

/// The newest version of a page.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) sequence: u64,
    pub(crate) slot: Slot,
    pub(crate) sum: u32,
    /// Its contents, until they are on the device, or as long as the policy keeps them.
    pub(crate) memory: Option<Buffer>,
}

impl Table {
    pub(crate) fn get(&self, page: PageNumber) -> Option<&Entry> {
        self.entries.get(&page)
    }

    /// Enters a version; returns the slot of the one before.
    pub(crate) fn put(&mut self, page: PageNumber, entry: Entry) -> Option<Slot> {
        self.entries.insert(page, entry).map(|older| older.slot)
    }

    /// Forgets a page; returns its slot.
    pub(crate) fn remove(&mut self, page: PageNumber) -> Option<Slot> {
        self.entries.remove(&page).map(|entry| entry.slot)
    }

    /// Forgets a page unless a newer version came.
    pub(crate) fn remove_version(&mut self, page: PageNumber, sequence: u64) -> Option<Slot> {
        let is_same = self.entries.get(&page).is_some_and(|entry| entry.sequence == sequence);
        if is_same { self.remove(page) } else { None }
    }

    /// The contents of a version are on the device.
    pub(crate) fn drop_memory(&mut self, page: PageNumber, sequence: u64) {
        if let Some(entry) = self.entries.get_mut(&page).filter(|entry| entry.sequence == sequence) {
            entry.memory = None;
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn pages(&self) -> impl Iterator<Item = PageNumber> {
        self.entries.keys().copied()
    }
}
