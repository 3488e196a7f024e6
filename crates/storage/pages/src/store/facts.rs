//! Facts of an open store for other modules.

use nandle_io::Arena;

use super::Store;
use crate::PageNumber;
use crate::label::Label;

impl Store {
    /// Label at the time of the opening.
    pub(crate) fn label(&self) -> &Label {
        self.home.label()
    }

    /// Arena of [`buffer`](Store::buffer), for threads that fill pages.
    pub(crate) fn arena(&self) -> Arena {
        self.arena.clone()
    }

    /// Length of a zone, if the store has zones.
    pub(crate) fn zone_bytes(&self) -> Option<u64> {
        self.policy.zone_bytes()
    }

    /// Offset of page 0's home place; `None` if pages have no home places.
    pub(crate) fn homes_offset_bytes(&self) -> Option<u64> {
        let label = self.home.label();
        (!label.policy.has_zones()).then(|| label.home_of(PageNumber(0)))
    }

    /// Memory for [`buffer`](Store::buffer)s in bytes.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.arena.bytes()
    }
}
