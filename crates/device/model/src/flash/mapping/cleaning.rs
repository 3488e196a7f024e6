//! Cleaning: moves the valid units out of a victim superblock, then erases it.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::super::parameters::CleaningPace;
use super::Medium;
use super::lazy_array::NONE;
use super::page_map::PageMap;
use super::streams::stream_for_moves;
use super::superblocks::{Candidate, CellUse};
use super::victim;

/// Progress of cleaning.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Cleaning {
    victim: Option<Victim>,
    pub(super) written_since_idle_work: bool,
    /// Random draws so far, for the policy that draws.
    pub(super) draws: u64,
    /// Units that the host may write before the next burst: the gain of the last one, less writes
    /// since.
    #[serde(skip)]
    gained_units: u32,
    /// Units of the victim due for cleaning that don't fill a row yet.
    #[serde(skip)]
    owed_units: u32,
    /// Units being moved; reused to save allocations.
    #[serde(skip)]
    valid: Vec<Resident>,
}

impl Cleaning {
    /// Marks all moves as complete.
    pub(super) fn forget_times(&mut self) {
        if let Some(victim) = &mut self.victim {
            victim.moved_ns = 0;
        }
    }
}

/// Unit at an offset of the victim.
#[derive(Debug, Clone, Copy)]
struct Resident {
    offset: u32,
    unit: u32,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Victim {
    superblock: u32,
    next_offset: u32,
    /// Units to clean for each unit that the host writes, so that the victim is empty in time.
    units_per_write: u32,
    /// End of the last move.
    moved_ns: u64,
}

impl PageMap {
    /// Cleans after a host write if free superblocks have run low.
    #[inline]
    pub(super) fn make_space(&mut self, now_ns: u64, medium: &mut Medium<'_>) {
        self.cleaning.gained_units = self.cleaning.gained_units.saturating_sub(1);
        if self.superblocks.free() < self.parameters.low_free_superblocks {
            self.clean(now_ns, medium);
        }
    }

    fn clean(&mut self, now_ns: u64, medium: &mut Medium<'_>) {
        match self.parameters.pace {
            CleaningPace::Paced => self.clean_in_step(now_ns, medium),
            CleaningPace::Burst { superblocks } => self.clean_at_one_go(superblocks, now_ns, medium),
        }
    }

    /// Cleans the share of one host write. Only whole rows are cleaned, so the remainder is carried
    /// over: rounding up would clean a row at each write.
    fn clean_in_step(&mut self, now_ns: u64, medium: &mut Medium<'_>) {
        if self.cleaning.victim.is_none() && !self.choose_victim() {
            return;
        }
        self.cleaning.owed_units += self.cleaning.victim.map_or(0, |victim| victim.units_per_write);
        let row = self.geometry.units_per_program();
        let quota = self.cleaning.owed_units / row * row;
        self.cleaning.owed_units -= quota;
        if quota > 0 {
            self.clean_units(quota, now_ns, medium);
        }
    }

    /// Cleans `superblocks` at once, unless the host has yet to use the gain of the last burst.
    /// Padding of rows is no gain, so the wait ends as well if free superblocks run lower.
    fn clean_at_one_go(&mut self, superblocks: u32, now_ns: u64, medium: &mut Medium<'_>) {
        let runs_lower = self.superblocks.free() + 1 < self.parameters.low_free_superblocks;
        if self.cleaning.gained_units > 0 && !runs_lower {
            return;
        }
        let all = self.geometry.units_per_superblock();
        for _ in 0..superblocks {
            if self.cleaning.victim.is_none() && !self.choose_victim() {
                return;
            }
            let kept =
                self.cleaning.victim.map_or(all, |victim| self.superblocks.valid_units(victim.superblock));
            self.clean_units(all, now_ns, medium);
            self.cleaning.gained_units += all - kept;
        }
    }

    pub(crate) fn idle_work_after_ns(&self) -> Option<u64> {
        let idle = self.parameters.idle_cleaning.as_ref()?;
        self.cleaning.written_since_idle_work.then_some(idle.after_ns)
    }

    pub(crate) fn work_while_idle(&mut self, now_ns: u64, medium: &mut Medium<'_>) -> Option<u64> {
        if self.cleaning.victim.is_none() && !self.choose_idle_victim() {
            self.cleaning.written_since_idle_work = false;
            return None;
        }
        let row = self.geometry.dies() * self.geometry.units_per_program();
        Some(self.clean_units(row, now_ns, medium).max(now_ns))
    }

    /// Chooses a victim while idle. Emptying the single-level region needs free superblocks, so
    /// these come first.
    fn choose_idle_victim(&mut self) -> bool {
        let free = self.superblocks.free();
        if free < self.parameters.low_free_superblocks && self.choose_victim() {
            return true;
        }
        let high = self.parameters.idle_cleaning.as_ref().map_or(0, |idle| idle.high_free_superblocks);
        self.choose_single_level_victim() || (free < high && self.choose_victim())
    }

    fn choose_victim(&mut self) -> bool {
        let chosen = victim::choose(self.parameters.victim, &self.superblocks, &mut self.cleaning.draws);
        let all = self.geometry.units_per_superblock();
        chosen.filter(|chosen| chosen.valid_units < all).is_some_and(|chosen| self.begin(chosen))
    }

    /// Empties the single-level region in the order in which it was filled.
    fn choose_single_level_victim(&mut self) -> bool {
        let oldest = self.superblocks.candidates_with(CellUse::SingleLevel).max_by_key(|oldest| oldest.age);
        oldest.is_some_and(|oldest| self.begin(oldest))
    }

    fn begin(&mut self, chosen: Candidate) -> bool {
        let all = self.geometry.units_per_superblock();
        let gain = (all - chosen.valid_units).max(1);
        self.cleaning.victim = Some(Victim {
            superblock: chosen.index,
            next_offset: 0,
            units_per_write: all.div_ceil(gain) + 1,
            moved_ns: 0,
        });
        true
    }

    /// Cleans up to `quota` units of the victim in whole rows, and erases it at its end. Returns
    /// the end of the chips' work.
    fn clean_units(&mut self, quota: u32, now_ns: u64, medium: &mut Medium<'_>) -> u64 {
        let Some(mut victim) = self.cleaning.victim else { return now_ns };
        self.find_residents(victim.superblock);
        let all = self.geometry.units_per_superblock();
        let stop = victim.next_offset.saturating_add(quota).min(all);
        if victim.next_offset < stop {
            let offsets = victim.next_offset..stop.next_multiple_of(self.geometry.units_per_program());
            victim.next_offset = offsets.end;
            let moved_ns = self.move_rows(victim.superblock, offsets, now_ns, medium);
            victim.moved_ns = victim.moved_ns.max(moved_ns);
        }
        if victim.next_offset < all && self.superblocks.valid_units(victim.superblock) > 0 {
            self.cleaning.victim = Some(victim);
            return victim.moved_ns;
        }
        self.cleaning.victim = None;
        self.erase(victim, now_ns, medium)
    }

    /// Moves the valid units at these offsets row by row; returns the end of the chips' work.
    fn move_rows(
        &mut self,
        superblock: u32,
        offsets: Range<u32>,
        now_ns: u64,
        medium: &mut Medium<'_>,
    ) -> u64 {
        // Look up all rows at once, so that the processor overlaps its accesses to the map. No move
        // changes the place of another unit.
        let mut valid = std::mem::take(&mut self.cleaning.valid);
        valid.clear();
        self.valid_in(superblock, offsets, &mut valid);
        let geometry = self.geometry;
        let mut end_ns = now_ns;
        for row in valid.chunk_by(|a, b| geometry.row_of(a.offset) == geometry.row_of(b.offset)) {
            end_ns = end_ns.max(self.move_row(superblock, row, now_ns, medium));
        }
        self.cleaning.valid = valid;
        end_ns
    }

    /// Moves the valid units of one row.
    fn move_row(&mut self, superblock: u32, row: &[Resident], now_ns: u64, medium: &mut Medium<'_>) -> u64 {
        let Some(first) = row.first() else { return now_ns };
        let valid = row.len() as u64;
        let cells = self.cells(superblock, medium);
        let die = self.geometry.die_of(first.offset);
        let ready_ns = medium.chips.read_in_turn(die, now_ns, valid * self.geometry.unit_bytes, cells);
        let stream = stream_for_moves(self.parameters.separation);
        let mut end_ns = ready_ns;
        for resident in row {
            let programmed_ns = self.place(stream, resident.unit, false, ready_ns, medium);
            end_ns = end_ns.max(programmed_ns.unwrap_or(0));
        }
        medium.stats.moved_units += valid;
        end_ns
    }

    /// Lists the units in a superblock and in those that are likely to be cleaned next.
    fn find_residents(&mut self, superblock: u32) {
        if self.residents.has(superblock) || self.superblocks.valid_units(superblock) == 0 {
            return;
        }
        let cells = self.superblocks.cells_of(superblock);
        let likely = self.superblocks.candidates_with(cells).filter(|candidate| candidate.valid_units > 0);
        let mut next: Vec<Candidate> = likely.collect();
        next.sort_by_key(|candidate| match cells {
            CellUse::AllBits => u64::from(candidate.valid_units),
            CellUse::SingleLevel => u64::MAX - candidate.age,
        });
        let others = next.iter().map(|candidate| candidate.index).filter(|index| *index != superblock);
        let found = std::iter::once(superblock).chain(others);
        self.residents.find(found, &self.forward, &self.geometry);
    }

    /// Valid units at these offsets of a superblock being cleaned, in order.
    fn valid_in(&self, superblock: u32, offsets: Range<u32>, valid: &mut Vec<Resident>) {
        let first = superblock * self.geometry.units_per_superblock();
        let listed = self.residents.units(superblock, offsets.clone());
        let residents = offsets.zip(listed).map(|(offset, &unit)| Resident { offset, unit });
        let is_there = |resident: &Resident| {
            resident.unit != NONE && self.forward.get(resident.unit) == first + resident.offset
        };
        valid.extend(residents.filter(is_there));
    }

    fn erase(&mut self, victim: Victim, now_ns: u64, medium: &mut Medium<'_>) -> u64 {
        let earliest_ns = now_ns.max(victim.moved_ns);
        let end_ns = (0..self.geometry.dies()).map(|die| medium.chips.erase(die, earliest_ns)).max();
        medium.stats.erased_superblocks += 1;
        self.superblocks.erased(victim.superblock);
        self.residents.forget(victim.superblock);
        end_ns.unwrap_or(now_ns)
    }
}
