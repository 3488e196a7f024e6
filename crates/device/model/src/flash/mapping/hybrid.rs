//! Hybrid mapping. Whole superblocks are mapped, and writes go to a few log superblocks, each of
//! one logical superblock (the scheme of Kim et al.: *A space-efficient flash translation layer for
//! compact flash systems*, IEEE TCE 48(2), 2002, over superblocks that are striped across all
//! dies). When a write needs a log and all are in use, the least recently used is merged into its
//! data superblock.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::super::page_reads::PageState;
use super::super::parameters::HybridParameters;
use super::super::stats::EraseCounts;
use super::super::units::UnitRange;
use super::lazy_array::NONE;
use super::log_superblock::LogSuperblock;
use super::{Geometry, Location, Medium, Stored};

/// Data superblock of a logical superblock.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Data {
    pub(super) physical: u32,
    /// One past the last unit ever written; a merge copies the units before it.
    pub(super) extent: u32,
}

/// Block map and its logs.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct HybridMap {
    pub(super) geometry: Geometry,
    pub(super) data: Vec<Data>,
    pub(super) logs: Vec<LogSuperblock>,
    log_limit: usize,
    pub(super) free: VecDeque<u32>,
    pub(super) erases: Vec<u32>,
    writes: u64,
}

impl HybridMap {
    pub(crate) fn new(geometry: Geometry, parameters: &HybridParameters) -> Self {
        let logical = geometry.logical_superblocks();
        let physical = logical + parameters.log_superblocks + parameters.spare_superblocks;
        Self {
            geometry,
            data: vec![Data { physical: NONE, extent: 0 }; logical as usize],
            logs: Vec::new(),
            log_limit: parameters.log_superblocks as usize,
            free: (0..physical).collect(),
            erases: vec![0; physical as usize],
            writes: 0,
        }
    }

    pub(crate) fn with_state_of(self, aged: Self) -> Option<Self> {
        let same_size = self.geometry == aged.geometry && self.erases.len() == aged.erases.len();
        (same_size && self.log_limit == aged.log_limit).then_some(aged)
    }

    pub(crate) fn is_new(&self) -> bool {
        self.logs.is_empty() && self.data.iter().all(|data| data.extent == 0)
    }

    pub(crate) fn fill_sequentially(&mut self, units: u32) {
        let mut left = units.min(self.geometry.logical_units);
        for data in &mut self.data {
            let extent = left.min(self.geometry.units_per_superblock());
            if extent == 0 {
                return;
            }
            let Some(physical) = self.free.pop_front() else { return };
            *data = Data { physical, extent };
            left -= extent;
        }
    }

    pub(crate) fn locate(&self, unit: u32) -> Location {
        let (logical, offset) = self.geometry.split(unit);
        let log = self.logs.iter().find(|log| log.logical == logical);
        if let Some((log, place)) = log.and_then(|log| Some((log, log.place_of(offset)?))) {
            return self.stored(log.physical, place);
        }
        match self.data.get(logical as usize) {
            Some(data) if offset < data.extent => self.stored(data.physical, offset),
            _ => Location::Unwritten,
        }
    }

    pub(crate) fn page_state(&self, stored: Stored) -> PageState {
        let (superblock, offset) = self.geometry.split(stored.address);
        let erases = self.erases.get(superblock as usize).copied().unwrap_or(0);
        PageState { page: self.geometry.page_of(offset), row: stored.row, erases }
    }

    pub(crate) fn write(&mut self, unit: u32, ready_ns: u64, medium: &mut Medium<'_>) -> Option<u64> {
        medium.stats.host_written_units += 1;
        self.writes += 1;
        let (logical, offset) = self.geometry.split(unit);
        let (index, earliest_ns) = self.log_for(logical, ready_ns, medium)?;
        let log = self.logs.get_mut(index)?;
        log.last_used = self.writes;
        let place = log.append(offset);
        let die = self.geometry.die_of(place);
        let cells = medium.chips.cells();
        let row = self.geometry.row_of(log.physical * self.geometry.units_per_superblock() + place);
        let programming = medium.chips.program(die, earliest_ns, self.geometry.unit_bytes, cells);
        medium.buffer.programmed((die, row), 1, ready_ns, programming);
        Some(programming.end_ns)
    }

    /// Discards units. A block map can drop only the end of a superblock, and only without an open
    /// log.
    pub(crate) fn discard(&mut self, units: UnitRange) {
        let per_superblock = self.geometry.units_per_superblock();
        let first = units.first / per_superblock;
        for (logical, data) in (first..).zip(self.data.iter_mut().skip(first as usize)) {
            let start = logical * per_superblock;
            if start >= units.end {
                return;
            }
            let reaches_end = start + data.extent <= units.end;
            if reaches_end && !self.logs.iter().any(|log| log.logical == logical) {
                data.extent = data.extent.min(units.first.saturating_sub(start));
            }
        }
    }

    pub(crate) fn erase_counts(&self) -> EraseCounts {
        EraseCounts::of(self.erases.iter().copied())
    }

    pub(crate) fn table_bytes(&self) -> usize {
        let log_bytes = self.geometry.units_per_superblock() as usize * size_of::<u32>();
        self.data.len() * size_of::<Data>()
            + self.logs.len() * log_bytes
            + self.erases.len() * size_of::<u32>()
    }

    /// Log for a write to a logical superblock, and the time at which the chips have made it
    /// available.
    fn log_for(&mut self, logical: u32, ready_ns: u64, medium: &mut Medium<'_>) -> Option<(usize, u64)> {
        let mut earliest_ns = ready_ns;
        if let Some(index) = self.logs.iter().position(|log| log.logical == logical) {
            if self.logs.get(index)?.written < self.geometry.units_per_superblock() {
                return Some((index, ready_ns));
            }
            earliest_ns = self.merge(index, ready_ns, medium);
        } else if self.logs.len() >= self.log_limit {
            let oldest =
                (0..self.logs.len()).min_by_key(|&index| self.logs.get(index).map(|log| log.last_used))?;
            earliest_ns = self.merge(oldest, ready_ns, medium);
        }
        let physical = self.free.pop_front()?;
        self.logs.push(LogSuperblock::new(logical, physical, self.geometry.units_per_superblock()));
        Some((self.logs.len() - 1, earliest_ns))
    }

    fn stored(&self, physical: u32, offset: u32) -> Location {
        let address = physical * self.geometry.units_per_superblock() + offset;
        let die = self.geometry.die_of(offset);
        Location::Stored(Stored { address, die, row: self.geometry.row_of(address), single_level: false })
    }
}
