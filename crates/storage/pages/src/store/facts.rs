//! Facts of an open store for other parts of this crate.

use nandle_io::Arena;

use super::Store;
use crate::PageNumber;
use crate::label::Label;

impl Store {
    /// As it was when the store was opened.
    pub(crate) fn label(&self) -> &Label {
        self.home.label()
    }

    /// Where [`buffer`](Store::buffer) takes its memory from, for threads that fill pages.
    pub(crate) fn arena(&self) -> Arena {
        self.arena.clone()
    }

    /// Length of a zone, where there are any.
    pub(crate) fn zone_bytes(&self) -> Option<u64> {
        self.policy.zone_bytes()
    }

    /// Where page 0 has its place, and the others behind it; `None` where pages have none.
    pub(crate) fn homes_offset_bytes(&self) -> Option<u64> {
        let label = self.home.label();
        (!label.policy.has_zones()).then(|| label.home_of(PageNumber(0)))
    }

    /// Memory of [`buffer`](Store::buffer)s.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.arena.bytes()
    }
}
