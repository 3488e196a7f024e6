use nandle_io::Buffer;
use rustc_hash::FxHashMap;

use super::space::Slot;
use crate::PageNumber;

/// Translation table: place of the newest version of each staged page.
#[derive(Debug, Default)]
pub(crate) struct Table {
    entries: FxHashMap<PageNumber, Entry>,
    /// Number of entries with contents in memory.
    in_memory: usize,
}

/// Newest version of a page.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) sequence: u64,
    pub(crate) slot: Slot,
    pub(crate) sum: u32,
    /// Contents, until they are on the device, or longer if the policy keeps them.
    pub(crate) memory: Option<Buffer>,
}

impl Table {
    pub(crate) fn get(&self, page: PageNumber) -> Option<&Entry> {
        self.entries.get(&page)
    }

    /// Enters a version. Returns the slot of the previous one.
    pub(crate) fn put(&mut self, page: PageNumber, entry: Entry) -> Option<Slot> {
        self.in_memory += usize::from(entry.memory.is_some());
        let sequence = entry.sequence;
        let older = self.entries.insert(page, entry);
        debug_assert!(older.as_ref().is_none_or(|older| older.sequence < sequence), "{page}: versions grow");
        let older = self.gone(older);
        debug_assert!(self.in_memory <= self.entries.len(), "contents are those of entries");
        older
    }

    /// Removes a page. Returns its slot.
    pub(crate) fn remove(&mut self, page: PageNumber) -> Option<Slot> {
        let older = self.entries.remove(&page);
        self.gone(older)
    }

    fn gone(&mut self, older: Option<Entry>) -> Option<Slot> {
        let older = older?;
        debug_assert!(self.in_memory >= usize::from(older.memory.is_some()), "its contents were counted");
        self.in_memory -= usize::from(older.memory.is_some());
        Some(older.slot)
    }

    /// Removes a page unless a newer version exists.
    pub(crate) fn remove_version(&mut self, page: PageNumber, sequence: u64) -> Option<Slot> {
        let is_same = self.entries.get(&page).is_some_and(|entry| entry.sequence == sequence);
        if is_same { self.remove(page) } else { None }
    }

    /// Marks versions as written. Drops their contents from memory beyond the limit.
    pub(crate) fn written(
        &mut self,
        sequence: u64,
        pages: impl Iterator<Item = PageNumber>,
        keep_pages: usize,
    ) {
        for page in pages {
            if self.in_memory <= keep_pages {
                return;
            }
            if let Some(entry) = self.entries.get_mut(&page).filter(|entry| entry.sequence == sequence) {
                self.in_memory -= usize::from(entry.memory.take().is_some());
            }
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn pages(&self) -> impl Iterator<Item = PageNumber> {
        self.entries.keys().copied()
    }
}
