//! Mapping layers: where a logical unit is, and what writing it costs the chips.

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

/// Where a logical unit is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Location {
    /// Nowhere: reading it gives zeros without touching the chips.
    Unwritten,
    /// In the write buffer: its program operation has not begun.
    Buffered,
    /// On a die.
    Stored(Stored),
}

/// A unit on a die.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stored {
    /// Physical unit; consecutive units lie in stripe order across the dies.
    pub(crate) address: u32,
    pub(crate) die: DieIndex,
    /// What one program operation wrote: the pages of all planes. Units of the same row are sensed together.
    pub(crate) row: u32,
    pub(crate) single_level: bool,
}

/// What a mapping acts on: it uses the chips, tells the buffer what leaves it, and counts.
pub(crate) struct Medium<'a> {
    pub(crate) chips: &'a mut Chips,
    pub(crate) buffer: &'a mut WriteBuffer,
    pub(crate) stats: &'a mut FlashStats,
    pub(crate) map_memory: Option<&'a mut MapMemory>,
}

impl Medium<'_> {
    /// A unit has a new place.
    #[inline]
    fn map_changed(&mut self, unit: u32, now_ns: u64) {
        if let Some(memory) = &mut self.map_memory {
            memory.change(unit, now_ns, self.chips, self.stats);
        }
    }
}

/// A drive's mapping layer; all of it that outlives power cycles, and nothing of virtual time.
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

    /// This new mapping in the state of an aged one; `None` when their layouts differ. Policies are those of the
    /// new one.
    pub(crate) fn with_state_of(self, aged: Self) -> Option<Self> {
        match (self, aged) {
            (Self::Page(new), Self::Page(aged)) => new.with_state_of(*aged).map(Box::new).map(Self::Page),
            (Self::Hybrid(new), Self::Hybrid(aged)) => {
                new.with_state_of(*aged).map(Box::new).map(Self::Hybrid)
            }
            _ => None,
        }
    }

    /// Whether nothing has ever been written.
    pub(crate) fn is_new(&self) -> bool {
        match self {
            Self::Page(map) => map.is_new(),
            Self::Hybrid(map) => map.is_new(),
        }
    }

    /// Makes the first `units` units written, as if sequentially and only once. Only on a drive never written to.
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

    /// What is known of the page that a unit is in.
    pub(crate) fn page_state(&self, stored: Stored) -> PageState {
        match self {
            Self::Page(map) => map.page_state(stored),
            Self::Hybrid(map) => map.page_state(stored),
        }
    }

    /// Whether the units lie one behind the other on the medium, or have no place at all.
    pub(crate) fn is_run(&self, units: UnitRange) -> bool {
        match self {
            Self::Page(map) => map.is_run(units),
            Self::Hybrid(_) => true,
        }
    }

    /// Writes a unit whose data is in the buffer at `ready_ns`. Gives the end of the program operation
    /// that this started, if it did start one: a unit smaller than a program operation waits for others.
    #[inline]
    pub(crate) fn write(&mut self, unit: u32, ready_ns: u64, medium: &mut Medium<'_>) -> Option<u64> {
        match self {
            Self::Page(map) => map.write(unit, ready_ns, medium),
            Self::Hybrid(map) => map.write(unit, ready_ns, medium),
        }
    }

    /// Starts the program operations of all host data that still waits for company; gives the end of the last
    /// one, if there was any.
    pub(crate) fn program_partial_rows(&mut self, earliest_ns: u64, medium: &mut Medium<'_>) -> Option<u64> {
        match self {
            Self::Page(map) => map.program_partial_rows(earliest_ns, medium),
            Self::Hybrid(_) => None,
        }
    }

    /// The contents of these units are no longer needed.
    pub(crate) fn discard(&mut self, units: UnitRange) {
        match self {
            Self::Page(map) => map.discard(units),
            Self::Hybrid(map) => map.discard(units),
        }
    }

    /// After how long without commands there may be work to do; `None` when there is none.
    pub(crate) fn idle_work_after_ns(&self) -> Option<u64> {
        match self {
            Self::Page(map) => map.idle_work_after_ns(),
            Self::Hybrid(_) => None,
        }
    }

    /// Does a little of that work; gives the time at which the chips are done with it, `None` when nothing is left.
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

    /// Bytes of memory that the tables take.
    pub(crate) fn table_bytes(&self) -> usize {
        match self {
            Self::Page(map) => map.table_bytes(),
            Self::Hybrid(map) => map.table_bytes(),
        }
    }
}
