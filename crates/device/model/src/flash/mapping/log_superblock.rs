//! Log superblock: takes the writes to one logical superblock in the order of arrival.

use serde::{Deserialize, Serialize};

use super::lazy_array::NONE;

/// A log of one logical superblock.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct LogSuperblock {
    pub(crate) logical: u32,
    pub(crate) physical: u32,
    /// Units written.
    pub(crate) written: u32,
    /// True if unit *i* of the log is unit *i* of the logical superblock, as far as it is written.
    pub(crate) in_order: bool,
    pub(crate) last_used: u64,
    /// Newest position in the log of each unit of the logical superblock.
    places: Vec<u32>,
}

impl LogSuperblock {
    pub(crate) fn new(logical: u32, physical: u32, units: u32) -> Self {
        let places = vec![NONE; units as usize];
        Self { logical, physical, written: 0, in_order: true, last_used: 0, places }
    }

    pub(crate) fn place_of(&self, unit: u32) -> Option<u32> {
        self.places.get(unit as usize).copied().filter(|&place| place != NONE)
    }

    /// Appends a unit; returns its position in the log.
    pub(crate) fn append(&mut self, unit: u32) -> u32 {
        let place = self.written;
        self.in_order &= place == unit;
        self.written += 1;
        if let Some(entry) = self.places.get_mut(unit as usize) {
            *entry = place;
        }
        place
    }

    /// One past the last unit of the logical superblock that is in the log.
    pub(crate) fn extent(&self) -> u32 {
        let last = self.places.iter().rposition(|&place| place != NONE);
        last.map_or(0, |last| super::super::units::saturating_u32(last as u64 + 1))
    }
}
