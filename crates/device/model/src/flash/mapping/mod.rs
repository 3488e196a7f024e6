//! Mapping layers: the place of each logical unit, and the chip operations of a write.

mod cleaning;
#[cfg(test)]
mod consistency;
mod divisor;
mod geometry;
mod hybrid;
mod lazy_array;
mod log_superblock;
mod merge;
mod page_map;
mod residents;
mod streams;
mod superblocks;
mod victim;

pub(crate) use geometry::Geometry;
pub(crate) use hybrid::HybridMap;
pub(crate) use page_map::PageMap;
use serde::{Deserialize, Serialize};

use super::chips::{Chips, DieIndex};
use super::map_memory::MapMemory;
use super::page_reads::PageState;
use super::parameters::{FlashParameters, MappingParameters};
use super::stats::{EraseCounts, FlashStats};
use super::units::UnitRange;
use super::write_buffer::WriteBuffer;

/// Place of a logical unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Location {
    /// Never written: a read returns zeros without the chips.
    Unwritten,
    /// In the write buffer; its program operation has not begun.
    Buffered,
    /// On a die.
    Stored(Stored),
}

/// Unit on a die.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stored {
    /// Physical unit. Consecutive units are striped across the dies.
    pub(crate) address: u32,
    pub(crate) die: DieIndex,
    /// Data of one program operation: the pages of all planes. Units of a row are sensed together.
    pub(crate) row: u32,
    pub(crate) single_level: bool,
}

/// State that a mapping acts on: it uses the chips, releases data from the buffer, and counts.
pub(crate) struct Medium<'a> {
    pub(crate) chips: &'a mut Chips,
    pub(crate) buffer: &'a mut WriteBuffer,
    pub(crate) stats: &'a mut FlashStats,
    pub(crate) map_memory: Option<&'a mut MapMemory>,
}

impl Medium<'_> {
    /// Records that a unit has a new place.
    #[inline]
    fn map_changed(&mut self, unit: u32, now_ns: u64) {
        if let Some(memory) = &mut self.map_memory {
            memory.change(unit, now_ns, self.chips, self.stats);
        }
    }
}

/// Mapping layer of a drive. All of it outlives power cycles, except virtual times.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Mapping {
    Page(Box<PageMap>),
    Hybrid(Box<HybridMap>),
}

impl Mapping {
    pub(crate) fn new(parameters: &FlashParameters) -> Self {
        let geometry = Geometry::of(parameters);
        match &parameters.mapping {
            MappingParameters::Page(page) => Self::Page(Box::new(PageMap::new(geometry, page, parameters))),
            MappingParameters::Hybrid(hybrid) => Self::Hybrid(Box::new(HybridMap::new(geometry, hybrid))),
        }
    }

    /// Puts this new mapping into an aged one's state; `None` if their layouts differ. Policies are
    /// those of the new one.
    pub(crate) fn with_state_of(self, aged: Self) -> Option<Self> {
        match (self, aged) {
            (Self::Page(new), Self::Page(aged)) => new.with_state_of(*aged).map(Box::new).map(Self::Page),
            (Self::Hybrid(new), Self::Hybrid(aged)) => {
                new.with_state_of(*aged).map(Box::new).map(Self::Hybrid)
            }
            _ => None,
        }
    }

    /// Returns true if nothing has ever been written.
    pub(crate) fn is_new(&self) -> bool {
        match self {
            Self::Page(map) => map.is_new(),
            Self::Hybrid(map) => map.is_new(),
        }
    }

    /// Marks the first `units` units of a new drive as written sequentially once.
    pub(crate) fn fill_sequentially(&mut self, units: u32) {
        match self {
            Self::Page(map) => map.fill_sequentially(units),
            Self::Hybrid(map) => map.fill_sequentially(units),
        }
    }

    #[inline]
    pub(crate) fn locate(&self, unit: u32) -> Location {
        match self {
            Self::Page(map) => map.locate(unit),
            Self::Hybrid(map) => map.locate(unit),
        }
    }

    /// State of a unit's page that determines its read time.
    pub(crate) fn page_state(&self, stored: Stored) -> PageState {
        match self {
            Self::Page(map) => map.page_state(stored),
            Self::Hybrid(map) => map.page_state(stored),
        }
    }

    /// Returns true if the units are contiguous on the medium, or have no place.
    pub(crate) fn is_run(&self, units: UnitRange) -> bool {
        match self {
            Self::Page(map) => map.is_run(units),
            Self::Hybrid(_) => true,
        }
    }

    /// Writes a unit whose data is in the buffer at `ready_ns`. Returns the end of the program
    /// operation that this completes, if any: a smaller unit waits for others.
    #[inline]
    pub(crate) fn write(&mut self, unit: u32, ready_ns: u64, medium: &mut Medium<'_>) -> Option<u64> {
        match self {
            Self::Page(map) => map.write(unit, ready_ns, medium),
            Self::Hybrid(map) => map.write(unit, ready_ns, medium),
        }
    }

    /// Programs all host data that waits for a full row; returns the end of the last operation, if
    /// any.
    pub(crate) fn program_partial_rows(&mut self, earliest_ns: u64, medium: &mut Medium<'_>) -> Option<u64> {
        match self {
            Self::Page(map) => map.program_partial_rows(earliest_ns, medium),
            Self::Hybrid(_) => None,
        }
    }

    /// Discards the contents of units.
    pub(crate) fn discard(&mut self, units: UnitRange) {
        match self {
            Self::Page(map) => map.discard(units),
            Self::Hybrid(map) => map.discard(units),
        }
    }

    /// Idle time after which there may be work to do; `None` if there is none.
    pub(crate) fn idle_work_after_ns(&self) -> Option<u64> {
        match self {
            Self::Page(map) => map.idle_work_after_ns(),
            Self::Hybrid(_) => None,
        }
    }

    /// Does a piece of idle work; returns the end of the chips' work, or `None` if nothing is left.
    pub(crate) fn work_while_idle(&mut self, now_ns: u64, medium: &mut Medium<'_>) -> Option<u64> {
        match self {
            Self::Page(map) => map.work_while_idle(now_ns, medium),
            Self::Hybrid(_) => None,
        }
    }

    pub(crate) fn erase_counts(&self) -> EraseCounts {
        match self {
            Self::Page(map) => map.erase_counts(),
            Self::Hybrid(map) => map.erase_counts(),
        }
    }

    /// Bytes of memory of the tables.
    pub(crate) fn table_bytes(&self) -> usize {
        match self {
            Self::Page(map) => map.table_bytes(),
            Self::Hybrid(map) => map.table_bytes(),
        }
    }
}
