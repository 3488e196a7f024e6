//! Part of a page map in the controller's memory, with second-chance replacement (Corbató, *A
//! Paging Experiment with the Multics System*, 1968). Demand-loaded maps: Gupta, Kim, Urgaonkar:
//! *DFTL*, ASPLOS 2009.
//!
//! A missing page is read from the chips. A changed page is programmed before it is evicted. A read
//! of data waits for the map. A write doesn't, since its new place is known and its data is in the
//! buffer; but the map's operations keep dies and channels busy. Space for the map's pages and its
//! cleaning are not modelled: the map takes a thousandth of the flash.

use serde::{Deserialize, Serialize};

use super::chips::{Chips, DieIndex};
use super::parameters::{FlashParameters, MappingParameters};
use super::stats::FlashStats;
use super::units::{UnitRange, saturating_u32};

/// Size of a unit's entry in the map.
const ENTRY_BYTES: u64 = 4;

/// Page of the map in memory.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Held {
    page: u32,
    /// Time at which the page has been read.
    known_ns: u64,
    used_again: bool,
    /// True if the page differs from its copy on the chips.
    is_changed: bool,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct MapMemory {
    run_units: u32,
    page_units: u32,
    page_bytes: u64,
    /// Mapping units per page of the map.
    units_written: u64,
    /// Die of each page.
    die: Vec<DieIndex>,
    dies: u32,
    /// Die of the next page write; dies take turns.
    next_die: DieIndex,
    most: usize,
    held: Vec<Held>,
    /// Index of each page in `held`.
    place: Vec<Option<u32>>,
    /// Index in `held` of the next page to evict, unless it has been used again.
    hand: usize,
}

impl MapMemory {
    /// Empty memory; `None` for a drive whose map is entirely in memory.
    pub(crate) fn of(drive: &FlashParameters) -> Option<Self> {
        let MappingParameters::Page(page_map) = &drive.mapping else { return None };
        let memory = page_map.map_memory.as_ref()?;
        let page_bytes = drive.chips.page_bytes;
        let page_units = saturating_u32(page_bytes / ENTRY_BYTES).max(1);
        let pages = drive.capacity_bytes.div_ceil(page_map.unit_bytes).div_ceil(u64::from(page_units));
        let dies = drive.chips.dies().max(1);
        let pages = saturating_u32(pages);
        Some(Self {
            run_units: saturating_u32(memory.run_bytes / page_map.unit_bytes).max(1),
            page_units,
            page_bytes,
            units_written: page_bytes / page_map.unit_bytes.max(1),
            die: (0..pages).map(|page| page % dies).collect(),
            dies,
            next_die: 0,
            most: usize::try_from(memory.bytes / page_bytes).unwrap_or(usize::MAX).max(1),
            held: Vec::new(),
            place: vec![None; pages as usize],
            hand: 0,
        })
    }

    /// Replaces this empty memory by an aged drive's, unless the sizes differ. All pages count as
    /// read.
    pub(crate) fn with_state_of(self, aged: Self) -> Self {
        if (self.most, self.run_units, self.die.len()) != (aged.most, aged.run_units, aged.die.len()) {
            return self;
        }
        let mut memory = aged;
        memory.held.iter_mut().for_each(|held| held.known_ns = 0);
        memory
    }

    /// Units that would share one entry if they were contiguous.
    pub(crate) fn run_around(&self, unit: u32) -> UnitRange {
        let first = unit / self.run_units * self.run_units;
        UnitRange { first, end: first.saturating_add(self.run_units) }
    }

    /// Time at which a unit's entry has been or will be read; `None` if it is not in memory.
    pub(crate) fn known_ns(&mut self, unit: u32) -> Option<u64> {
        self.use_page(self.page_of(unit)).map(|held| held.known_ns)
    }

    /// Reads the page of a unit's entry from `earliest_ns` on; returns the end.
    pub(crate) fn fetch(
        &mut self,
        unit: u32,
        earliest_ns: u64,
        chips: &mut Chips,
        stats: &mut FlashStats,
    ) -> u64 {
        let page = self.page_of(unit);
        let die = self.die.get(page as usize).copied().unwrap_or_default();
        let known_ns = chips.read(die, earliest_ns, self.page_bytes, chips.cells());
        stats.map_pages_read += 1;
        let gone = self.hold(Held { page, known_ns, used_again: false, is_changed: false });
        if let Some(gone) = gone.filter(|gone| gone.is_changed) {
            self.write_back(gone.page, earliest_ns, chips);
            stats.map_units_written += self.units_written;
        }
        known_ns
    }

    fn write_back(&mut self, page: u32, earliest_ns: u64, chips: &mut Chips) {
        self.next_die = (self.next_die + 1) % self.dies;
        chips.program(self.next_die, earliest_ns, self.page_bytes, chips.cells());
        if let Some(die) = self.die.get_mut(page as usize) {
            *die = self.next_die;
        }
    }

    /// Records a new place of a unit at `now_ns`.
    #[inline]
    pub(crate) fn change(&mut self, unit: u32, now_ns: u64, chips: &mut Chips, stats: &mut FlashStats) {
        if self.known_ns(unit).is_none() {
            self.fetch(unit, now_ns, chips, stats);
        }
        if let Some(held) = self.use_page(self.page_of(unit)) {
            held.is_changed = true;
        }
    }

    /// Page of the map with a unit's entry.
    fn page_of(&self, unit: u32) -> u32 {
        unit / self.page_units
    }

    fn use_page(&mut self, page: u32) -> Option<&mut Held> {
        let place = (*self.place.get(page as usize)?)?;
        let held = self.held.get_mut(place as usize)?;
        held.used_again = true;
        Some(held)
    }

    /// Takes a page into memory; returns the evicted page.
    fn hold(&mut self, held: Held) -> Option<Held> {
        if self.held.len() < self.most {
            self.set_place(held.page, Some(saturating_u32(self.held.len() as u64)));
            self.held.push(held);
            return None;
        }
        self.make_room();
        self.set_place(held.page, Some(saturating_u32(self.hand as u64)));
        let slot = self.held.get_mut(self.hand)?;
        let gone = std::mem::replace(slot, held);
        self.set_place(gone.page, None);
        self.hand = (self.hand + 1) % self.held.len();
        Some(gone)
    }

    /// Moves the hand to a page that has not been used again.
    fn make_room(&mut self) {
        while let Some(held) = self.held.get_mut(self.hand)
            && std::mem::take(&mut held.used_again)
        {
            self.hand = (self.hand + 1) % self.held.len();
        }
    }

    fn set_place(&mut self, page: u32, place: Option<u32>) {
        if let Some(entry) = self.place.get_mut(page as usize) {
            *entry = place;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::chips::Chips;
    use super::super::parameters::{MapMemoryParameters, MappingParameters};
    use super::super::stats::FlashStats;
    use super::MapMemory;
    use crate::library;

    /// Units per page of the map.
    const PAGE: u32 = 1_024;

    /// Memory for three pages.
    fn memory() -> (MapMemory, Chips, FlashStats) {
        let mut drive = library::flash("x25-e-64").unwrap();
        let MappingParameters::Page(page) = &mut drive.mapping else { panic!("a page map") };
        page.map_memory = Some(MapMemoryParameters { bytes: 3 * 4_096, run_bytes: 65_536 });
        (MapMemory::of(&drive).unwrap(), Chips::new(&drive.chips), FlashStats::default())
    }

    fn known(memory: &mut MapMemory, pages: &[u32]) -> Vec<u32> {
        pages.iter().copied().filter(|page| memory.known_ns(page * PAGE).is_some()).collect()
    }

    #[test]
    fn the_page_that_is_not_used_again_goes() {
        let (mut memory, mut chips, mut stats) = memory();
        for page in 0..3 {
            assert_eq!(memory.known_ns(page * PAGE), None);
            memory.fetch(page * PAGE, 0, &mut chips, &mut stats);
        }
        assert_eq!(known(&mut memory, &[0, 2]), [0, 2]);
        memory.fetch(7 * PAGE, 70, &mut chips, &mut stats);
        assert_eq!(known(&mut memory, &[0, 1, 2, 7]), [0, 2, 7]);
        memory.fetch(8 * PAGE, 80, &mut chips, &mut stats);
        assert_eq!(known(&mut memory, &[0, 1, 2, 7, 8]).len(), 3);
        assert_eq!((stats.map_pages_read, stats.map_units_written), (5, 0));
    }

    #[test]
    fn a_changed_page_is_written_when_it_goes() {
        let (mut memory, mut chips, mut stats) = memory();
        for unit in 0..PAGE {
            memory.change(unit, 0, &mut chips, &mut stats);
        }
        assert_eq!((stats.map_pages_read, stats.map_units_written), (1, 0));
        for page in 1..20 {
            memory.fetch(page * PAGE, 0, &mut chips, &mut stats);
        }
        assert_eq!((stats.map_pages_read, stats.map_units_written), (20, 1));
    }

    #[test]
    fn entries_of_a_page_and_of_a_run() {
        let (memory, ..) = memory();
        assert_eq!((memory.page_of(1_023), memory.page_of(1_024)), (0, 1));
        let run = memory.run_around(1_030);
        assert_eq!((run.first, run.end), (1_024, 1_040));
    }
}
