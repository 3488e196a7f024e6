//! Page mapping: a unit can be anywhere. Overwritten versions stay as garbage until their
//! superblock is cleaned.
#![allow(clippy::indexing_slicing, reason = "streams index a fixed array")]

use serde::{Deserialize, Serialize};

use super::super::chips::CellTimes;
use super::super::page_reads::PageState;
use super::super::parameters::{FlashParameters, PageMapParameters, Separation, SlcRegion};
use super::super::stats::EraseCounts;
use super::super::units::{UnitRange, saturating_u32};
use super::cleaning::Cleaning;
use super::lazy_array::{LazyArray, NONE};
use super::residents::Residents;
use super::streams::{STREAMS, Stream, stream_for_host_write};
use super::superblocks::{CellUse, Superblocks};
use super::{Geometry, Location, Medium, Stored};

/// Superblock being filled.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Open {
    superblock: u32,
    next_offset: u32,
    capacity_units: u32,
    /// Time at which all data of the next program operation is ready.
    ready_ns: u64,
    /// Host units in the next program operation.
    host_units: u32,
}

/// Page-mapped layer.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct PageMap {
    pub(super) geometry: Geometry,
    pub(super) parameters: PageMapParameters,
    /// Logical unit → physical unit.
    pub(super) forward: LazyArray,
    /// Physical unit → logical unit, where cleaning needs it. Derived from `forward`.
    #[serde(skip)]
    pub(super) residents: Residents,
    pub(super) superblocks: Superblocks,
    /// Superblocks by capacity and spare space, without additions.
    flash_superblocks: u32,
    /// Limit of superblocks with one bit a cell.
    #[serde(skip)]
    single_level_most: u32,
    pub(super) cleaning: Cleaning,
    open: [Option<Open>; STREAMS],
}

impl PageMap {
    pub(crate) fn new(geometry: Geometry, parameters: &PageMapParameters, drive: &FlashParameters) -> Self {
        let flash_superblocks = superblocks_of(parameters, drive);
        let superblocks = flash_superblocks + kept_beside(parameters, drive);
        Self {
            geometry,
            parameters: parameters.clone(),
            forward: LazyArray::new(geometry.logical_units as usize),
            residents: Residents::new(superblocks, &geometry, drive.chips.page_bytes),
            superblocks: Superblocks::new(superblocks),
            flash_superblocks,
            single_level_most: parameters.slc_region.as_ref().map_or(0, |slc| slc_superblocks(slc, drive)),
            cleaning: Cleaning::default(),
            open: Default::default(),
        }
    }

    pub(crate) fn with_state_of(self, aged: Self) -> Option<Self> {
        let same = self.geometry == aged.geometry && self.flash_superblocks == aged.flash_superblocks;
        let mut map = same.then_some(Self {
            parameters: self.parameters,
            residents: self.residents.of_superblocks(aged.superblocks.len()),
            single_level_most: self.single_level_most,
            ..aged
        })?;
        // Its times belong to the clock of another world.
        map.cleaning.forget_times();
        map.open.iter_mut().flatten().for_each(|open| open.ready_ns = 0);
        Some(map)
    }

    pub(crate) fn is_new(&self) -> bool {
        self.superblocks.are_new()
    }

    pub(crate) fn fill_sequentially(&mut self, units: u32) {
        let units = units.min(self.geometry.logical_units);
        self.forward.set_identity_below(units);
        let per_superblock = self.geometry.units_per_superblock();
        for filled in (0..units).step_by(per_superblock as usize) {
            let Some(superblock) = self.superblocks.open(CellUse::AllBits) else { return };
            self.superblocks.add_valid(superblock, per_superblock.min(units - filled));
            self.superblocks.close(superblock);
        }
    }

    #[inline]
    pub(crate) fn locate(&self, unit: u32) -> Location {
        let address = self.forward.get(unit);
        if address == NONE {
            return Location::Unwritten;
        }
        let (superblock, offset) = self.geometry.split(address);
        if self.is_being_gathered(superblock, offset) {
            return Location::Buffered;
        }
        Location::Stored(Stored {
            address,
            die: self.geometry.die_of(offset),
            row: self.geometry.row_of(address),
            single_level: self.superblocks.cells_of(superblock) == CellUse::SingleLevel,
        })
    }

    pub(crate) fn page_state(&self, stored: Stored) -> PageState {
        let (superblock, offset) = self.geometry.split(stored.address);
        let erases = self.superblocks.erases(superblock);
        PageState { page: self.geometry.page_of(offset), row: stored.row, erases }
    }

    pub(crate) fn is_run(&self, units: UnitRange) -> bool {
        let units = units.first..units.end.min(self.geometry.logical_units);
        let first = self.forward.get(units.start);
        let address = |step: u32| if first == NONE { NONE } else { first + step };
        (0..).zip(units).all(|(step, unit)| self.forward.get(unit) == address(step))
    }

    pub(crate) fn write(&mut self, unit: u32, ready_ns: u64, medium: &mut Medium<'_>) -> Option<u64> {
        medium.stats.host_written_units += 1;
        self.cleaning.written_since_idle_work = true;
        let stream = self.host_stream(unit);
        let programmed = self.place(stream, unit, true, ready_ns, medium);
        self.make_space(ready_ns, medium);
        programmed
    }

    /// Puts a unit into a stream's open superblock; returns the end of the program operation that
    /// this completes, if any.
    #[inline]
    pub(super) fn place(
        &mut self,
        stream: Stream,
        unit: u32,
        from_host: bool,
        ready_ns: u64,
        medium: &mut Medium<'_>,
    ) -> Option<u64> {
        if self.open[stream.index()].is_none() {
            self.open_superblock(stream);
        }
        debug_assert!(
            self.open[stream.index()].is_some(),
            "cleaning keeps a free superblock for every stream"
        );
        let open = self.open[stream.index()].as_mut()?;
        let address = open.superblock * self.geometry.units_per_superblock() + open.next_offset;
        self.residents.note(open.superblock, open.next_offset, unit);
        open.next_offset += 1;
        open.ready_ns = open.ready_ns.max(ready_ns);
        open.host_units += u32::from(from_host);
        self.superblocks.add_valid(open.superblock, 1);
        let gathered = self.geometry.are_whole_rows(open.next_offset);
        let old = self.forward.replace(unit, address);
        self.forget(old);
        medium.map_changed(unit, ready_ns);
        if gathered { Some(self.program(stream, medium)) } else { None }
    }

    pub(crate) fn program_partial_rows(&mut self, earliest_ns: u64, medium: &mut Medium<'_>) -> Option<u64> {
        let mut end_ns = None;
        for stream in Stream::ALL {
            let Some(open) = self.open[stream.index()].as_mut() else { continue };
            let gathered = open.next_offset.next_multiple_of(self.geometry.units_per_program());
            let missing = gathered - open.next_offset;
            if missing > 0 && open.host_units > 0 {
                open.next_offset = gathered;
                open.ready_ns = open.ready_ns.max(earliest_ns);
                medium.stats.padded_units += u64::from(missing);
                end_ns = end_ns.max(Some(self.program(stream, medium)));
            }
        }
        end_ns
    }

    pub(crate) fn discard(&mut self, units: UnitRange) {
        if units.first == 0 && units.end >= self.geometry.logical_units {
            self.forward.clear();
            return self.superblocks.invalidate_all();
        }
        let mut unit = units.first;
        while unit < units.end {
            if let Some(end) = self.forward.end_of_empty_part(unit) {
                unit = end;
                continue;
            }
            if self.forward.get(unit) != NONE {
                let old = self.forward.replace(unit, NONE);
                self.forget(old);
            }
            unit += 1;
        }
    }

    pub(crate) fn erase_counts(&self) -> EraseCounts {
        EraseCounts::of(self.superblocks.erase_counts())
    }

    pub(crate) fn table_bytes(&self) -> usize {
        self.forward.bytes() + self.residents.bytes()
    }

    /// Cell times of a superblock.
    pub(super) fn cells(&self, superblock: u32, medium: &Medium<'_>) -> CellTimes {
        match (&self.parameters.slc_region, self.superblocks.cells_of(superblock)) {
            (Some(slc), CellUse::SingleLevel) => {
                CellTimes { read_ns: slc.read_ns, program_ns: slc.program_ns }
            }
            _ => medium.chips.cells(),
        }
    }

    /// Programs the units gathered by the stream.
    fn program(&mut self, stream: Stream, medium: &mut Medium<'_>) -> u64 {
        let geometry = self.geometry;
        let Some(open) = self.open[stream.index()].as_mut() else { return 0 };
        let (superblock, ready_ns, host_units) = (open.superblock, open.ready_ns, open.host_units);
        let last = open.next_offset - 1;
        let die = geometry.die_of(last);
        let row = geometry.row_of(superblock * geometry.units_per_superblock() + last);
        let full = open.next_offset >= open.capacity_units;
        open.ready_ns = 0;
        open.host_units = 0;
        if full {
            self.open[stream.index()] = None;
            self.superblocks.close(superblock);
        }
        let cells = self.cells(superblock, medium);
        let programming = medium.chips.program(die, ready_ns, geometry.program_bytes(), cells);
        medium.buffer.programmed((die, row), host_units, ready_ns, programming);
        programming.end_ns
    }

    fn open_superblock(&mut self, stream: Stream) {
        let cells = if stream == Stream::Slc { CellUse::SingleLevel } else { CellUse::AllBits };
        let Some(superblock) = self.superblocks.open(cells) else { return };
        let bits = self.parameters.slc_region.as_ref().map_or(1, |region| region.bits_per_cell);
        let shrink = if cells == CellUse::SingleLevel { bits } else { 1 };
        let programs = self.geometry.row_of(self.geometry.units_per_superblock()) / shrink;
        let capacity_units = programs * self.geometry.units_per_program();
        self.residents.begin(superblock);
        self.open[stream.index()] =
            Some(Open { superblock, next_offset: 0, capacity_units, ready_ns: 0, host_units: 0 });
    }

    fn host_stream(&self, unit: u32) -> Stream {
        if self.open[Stream::Slc.index()].is_some() || self.single_level_has_room() {
            return Stream::Slc;
        }
        if self.parameters.separation != Separation::ByAge {
            return Stream::Host;
        }
        let old = self.forward.get(unit);
        let age = (old != NONE).then(|| self.superblocks.age(self.geometry.superblock_of(old)));
        stream_for_host_write(Separation::ByAge, age, self.superblocks.len())
    }

    /// Returns true if the single-level region may grow. It uses ordinary free superblocks, and
    /// yields to data and cleaning.
    fn single_level_has_room(&self) -> bool {
        self.superblocks.single_level() < self.single_level_most
            && self.superblocks.free() > self.parameters.low_free_superblocks
    }

    #[inline]
    fn forget(&mut self, address: u32) {
        if address != NONE {
            self.superblocks.remove_valid(self.geometry.superblock_of(address));
        }
    }

    fn is_being_gathered(&self, superblock: u32, offset: u32) -> bool {
        let row = self.geometry.row_of(offset);
        self.geometry.units_per_program() > 1
            && self
                .open
                .iter()
                .flatten()
                .any(|open| open.superblock == superblock && row == self.geometry.row_of(open.next_offset))
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "validated: at most 2^31 units")]
fn superblocks_of(parameters: &PageMapParameters, drive: &FlashParameters) -> u32 {
    (drive.capacity_bytes as f64 * parameters.raw_over_user / drive.superblock_bytes() as f64).ceil() as u32
}

/// Additional superblocks of a scaled-down model. Cleaning's free superblocks are a negligible part
/// of a real drive's spare space, but a fifth of a scaled-down one's.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "validated: some thousands at most"
)]
fn kept_beside(parameters: &PageMapParameters, drive: &FlashParameters) -> u32 {
    let real_bytes = drive.scaled_from_bytes.unwrap_or(drive.capacity_bytes).max(drive.capacity_bytes);
    let left_out = 1.0 - drive.capacity_bytes as f64 / real_bytes as f64;
    (f64::from(parameters.low_free_superblocks) * left_out).round() as u32
}

fn slc_superblocks(region: &SlcRegion, drive: &FlashParameters) -> u32 {
    let raw_bytes = region.bytes * u64::from(region.bits_per_cell);
    saturating_u32(raw_bytes.div_ceil(drive.superblock_bytes()).max(1))
}
