//! The part of a page map that is in the controller's memory, as pages that stay while they are used (second chance:
//! Corbató, *A Paging Experiment with the Multics System*, 1968). Demand-loaded maps: Gupta, Kim, Urgaonkar: *DFTL*, ASPLOS
//! 2009; here without the writing of changed pages.

use super::chips::DieIndex;
use super::parameters::{FlashParameters, MappingParameters};
use super::units::{UnitRange, saturating_u32};

/// What the map says of a unit takes so much.
const ENTRY_BYTES: u64 = 4;

/// A page of the map that is in memory.
#[derive(Debug, Clone, Copy)]
struct Held {
    page: u32,
    /// When it has come.
    known_ns: u64,
    used_again: bool,
}

#[derive(Debug)]
pub(crate) struct MapMemory {
    miss_ns: u64,
    run_units: u32,
    page_units: u32,
    page_bytes: u64,
    dies: u32,
    most: usize,
    held: Vec<Held>,
    /// Where in `held` a page is.
    place: Vec<Option<u32>>,
    /// Which of `held` is the next to go, unless it has been used again.
    hand: usize,
}

impl MapMemory {
    /// Nothing in it; `None` for a drive whose map is always in memory.
    pub(crate) fn of(drive: &FlashParameters) -> Option<Self> {
        let MappingParameters::Page(page_map) = &drive.mapping else { return None };
        let memory = page_map.map_memory.as_ref()?;
        let page_bytes = drive.chips.page_bytes;
        let page_units = saturating_u32(page_bytes / ENTRY_BYTES).max(1);
        let pages = drive.capacity_bytes.div_ceil(page_map.unit_bytes).div_ceil(u64::from(page_units));
        Some(Self {
            miss_ns: memory.miss_ns,
            run_units: saturating_u32(memory.run_bytes / page_map.unit_bytes).max(1),
            page_units,
            page_bytes,
            dies: drive.chips.dies().max(1),
            most: usize::try_from(memory.bytes / page_bytes).unwrap_or(usize::MAX).max(1),
            held: Vec::new(),
            place: vec![None; saturating_u32(pages) as usize],
            hand: 0,
        })
    }

    pub(crate) fn miss_ns(&self) -> u64 {
        self.miss_ns
    }

    /// The units that would be one entry if they lay in order.
    pub(crate) fn run_around(&self, unit: u32) -> UnitRange {
        let first = unit / self.run_units * self.run_units;
        UnitRange { first, end: first.saturating_add(self.run_units) }
    }

    /// The page of the map that a unit's entry is in.
    pub(crate) fn page_of(&self, unit: u32) -> u32 {
        unit / self.page_units
    }

    /// Where on the chips a page of the map is, and its length. Pages are spread over the dies.
    pub(crate) fn place_of(&self, page: u32) -> (DieIndex, u64) {
        (page % self.dies, self.page_bytes)
    }

    /// When a page has come or will have come, if it is or will be in memory.
    pub(crate) fn known_ns(&mut self, page: u32) -> Option<u64> {
        let place = (*self.place.get(page as usize)?)?;
        let held = self.held.get_mut(place as usize)?;
        held.used_again = true;
        Some(held.known_ns)
    }

    /// A page comes into memory at `known_ns`; one that has not been used since its last chance goes.
    pub(crate) fn fetched(&mut self, page: u32, known_ns: u64) {
        let held = Held { page, known_ns, used_again: false };
        let place = if self.held.len() < self.most {
            self.held.push(held);
            self.held.len() - 1
        } else {
            self.make_room();
            let place = self.hand;
            if let Some(slot) = self.held.get_mut(place) {
                let gone = std::mem::replace(slot, held).page;
                self.set_place(gone, None);
            }
            self.hand = (self.hand + 1) % self.held.len().max(1);
            place
        };
        self.set_place(page, Some(saturating_u32(place as u64)));
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
    use super::super::parameters::{MapMemoryParameters, MappingParameters};
    use super::MapMemory;
    use crate::library;

    /// Memory for three pages.
    fn memory() -> MapMemory {
        let mut drive = library::flash("x25-e-64").unwrap();
        let MappingParameters::Page(page) = &mut drive.mapping else { panic!("a page map") };
        page.map_memory = Some(MapMemoryParameters { bytes: 3 * 4_096, run_bytes: 65_536, miss_ns: 1 });
        MapMemory::of(&drive).unwrap()
    }

    #[test]
    fn the_page_that_is_not_used_again_goes() {
        let mut memory = memory();
        for page in 0..3 {
            assert_eq!(memory.known_ns(page), None);
            memory.fetched(page, u64::from(page));
        }
        assert_eq!((memory.known_ns(0), memory.known_ns(2)), (Some(0), Some(2)));
        memory.fetched(7, 70);
        assert_eq!([0, 1, 2, 7].map(|page| memory.known_ns(page)), [Some(0), None, Some(2), Some(70)]);
        memory.fetched(8, 80);
        assert_eq!([0, 1, 2, 7, 8].iter().filter(|&&page| memory.known_ns(page).is_some()).count(), 3);
    }

    #[test]
    fn entries_of_a_page_and_of_a_run() {
        let memory = memory();
        assert_eq!((memory.page_of(1_023), memory.page_of(1_024)), (0, 1));
        let run = memory.run_around(1_030);
        assert_eq!((run.first, run.end), (1_024, 1_040));
    }
}
