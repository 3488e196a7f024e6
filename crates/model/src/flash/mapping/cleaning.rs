//! Making free superblocks: moves what is still valid out of a victim, then erases it.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::super::parameters::CleaningPace;
use super::Medium;
use super::lazy_array::NONE;
use super::page_map::PageMap;
use super::streams::stream_for_moves;
use super::superblocks::{Candidate, Pool};
use super::victim;

/// How far cleaning has come.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Cleaning {
    victim: Option<Victim>,
    pub(super) written_since_idle_work: bool,
    /// Random draws made so far, for the policy that draws.
    pub(super) draws: u64,
    /// The valid units of the row that is being moved; kept for its memory.
    #[serde(skip)]
    row: Vec<u32>,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Victim {
    superblock: u32,
    next_offset: u32,
    /// Units to look at for each unit that the host writes, so that the victim is empty in time.
    units_per_write: u32,
    /// End of the last move.
    moved_ns: u64,
}

impl PageMap {
    /// After a host write: cleans when free superblocks have run low.
    #[inline]
    pub(super) fn make_space(&mut self, now_ns: u64, medium: &mut Medium<'_>) {
        if self.superblocks.free_in(Pool::Main) < self.parameters.low_free_superblocks {
            self.clean(now_ns, medium);
        }
    }

    fn clean(&mut self, now_ns: u64, medium: &mut Medium<'_>) {
        match self.parameters.pace {
            CleaningPace::Paced => {
                if self.cleaning.victim.is_some() || self.choose_victim(Pool::Main) {
                    let quota = self.cleaning.victim.map_or(0, |victim| victim.units_per_write);
                    self.clean_units(quota, now_ns, medium);
                }
            }
            CleaningPace::Burst { superblocks } => {
                let enough = self.parameters.low_free_superblocks + superblocks - 1;
                while self.superblocks.free_in(Pool::Main) < enough
                    && (self.cleaning.victim.is_some() || self.choose_victim(Pool::Main))
                {
                    self.clean_units(self.geometry.units_per_superblock, now_ns, medium);
                }
            }
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
        let row = self.geometry.dies * self.geometry.units_per_program;
        Some(self.clean_units(row, now_ns, medium).max(now_ns))
    }

    /// Emptying the single-level region needs free superblocks, so these come first.
    fn choose_idle_victim(&mut self) -> bool {
        let free = self.superblocks.free_in(Pool::Main);
        if free < self.parameters.low_free_superblocks && self.choose_victim(Pool::Main) {
            return true;
        }
        let high = self.parameters.idle_cleaning.as_ref().map_or(0, |idle| idle.high_free_superblocks);
        self.choose_victim(Pool::Slc) || (free < high && self.choose_victim(Pool::Main))
    }

    fn choose_victim(&mut self, pool: Pool) -> bool {
        let chosen = match pool {
            // The region is emptied in the order in which it was filled.
            Pool::Slc => self.superblocks.candidates(pool).max_by_key(|candidate| candidate.age),
            Pool::Main => victim::choose(self.parameters.victim, &self.superblocks, &mut self.cleaning.draws),
        };
        let all = self.geometry.units_per_superblock;
        let Some(chosen) = chosen.filter(|chosen| chosen.valid_units < all || pool == Pool::Slc) else {
            return false;
        };
        let gain = (all - chosen.valid_units).max(1);
        self.cleaning.victim = Some(Victim {
            superblock: chosen.index,
            next_offset: 0,
            units_per_write: all.div_ceil(gain) + 1,
            moved_ns: 0,
        });
        true
    }

    /// Looks at up to `quota` units of the victim, in whole rows, and erases it at its end. Gives the time at
    /// which the chips are done.
    fn clean_units(&mut self, quota: u32, now_ns: u64, medium: &mut Medium<'_>) -> u64 {
        let Some(mut victim) = self.cleaning.victim else { return now_ns };
        self.find_residents(victim.superblock);
        let stop = victim.next_offset.saturating_add(quota).min(self.geometry.units_per_superblock);
        while victim.next_offset < stop {
            let end_ns = self.move_row(victim.superblock, victim.next_offset, now_ns, medium);
            victim.moved_ns = victim.moved_ns.max(end_ns);
            victim.next_offset += self.geometry.units_per_program;
        }
        if victim.next_offset < self.geometry.units_per_superblock
            && self.superblocks.valid_units(victim.superblock) > 0
        {
            self.cleaning.victim = Some(victim);
            return victim.moved_ns;
        }
        self.cleaning.victim = None;
        self.erase(victim, now_ns, medium)
    }

    fn move_row(&mut self, superblock: u32, offset: u32, now_ns: u64, medium: &mut Medium<'_>) -> u64 {
        let mut valid = std::mem::take(&mut self.cleaning.row);
        valid.clear();
        self.valid_in(superblock, offset..offset + self.geometry.units_per_program, &mut valid);
        let end_ns = self.move_units(superblock, offset, &valid, now_ns, medium);
        self.cleaning.row = valid;
        end_ns
    }

    fn move_units(
        &mut self,
        superblock: u32,
        offset: u32,
        units: &[u32],
        now_ns: u64,
        medium: &mut Medium<'_>,
    ) -> u64 {
        let valid = units.len() as u64;
        if valid == 0 {
            return now_ns;
        }
        let cells = self.cells(superblock, medium);
        let die = self.geometry.die_of(offset);
        let ready_ns = medium.chips.read_in_turn(die, now_ns, valid * self.geometry.unit_bytes, cells);
        let stream = stream_for_moves(self.parameters.separation);
        let mut end_ns = ready_ns;
        for &unit in units {
            let programmed_ns = self.place(stream, unit, false, ready_ns, medium);
            end_ns = end_ns.max(programmed_ns.unwrap_or(0));
        }
        medium.stats.moved_units += valid;
        end_ns
    }

    /// Sees to it that the units in a superblock are known, and in those that are likely to be cleaned next.
    fn find_residents(&mut self, superblock: u32) {
        if self.residents.has(superblock) || self.superblocks.valid_units(superblock) == 0 {
            return;
        }
        let pool = self.superblocks.pool_of(superblock);
        let mut next: Vec<Candidate> =
            self.superblocks.candidates(pool).filter(|candidate| candidate.valid_units > 0).collect();
        next.sort_by_key(|candidate| match pool {
            Pool::Main => u64::from(candidate.valid_units),
            Pool::Slc => u64::MAX - candidate.age,
        });
        let others = next.iter().map(|candidate| candidate.index).filter(|index| *index != superblock);
        let found = std::iter::once(superblock).chain(others);
        self.residents.find(found, &self.forward, self.geometry.units_per_superblock);
    }

    /// The logical units that are stored in a row of a superblock that is being cleaned, in their order.
    fn valid_in(&self, superblock: u32, row: Range<u32>, valid: &mut Vec<u32>) {
        let first = superblock * self.geometry.units_per_superblock + row.start;
        let listed = (first..).zip(self.residents.units(superblock, row));
        let there = listed.filter(|&(address, &unit)| unit != NONE && self.forward.get(unit) == address);
        valid.extend(there.map(|(_, unit)| unit));
    }

    fn erase(&mut self, victim: Victim, now_ns: u64, medium: &mut Medium<'_>) -> u64 {
        let earliest_ns = now_ns.max(victim.moved_ns);
        let end_ns = (0..self.geometry.dies).map(|die| medium.chips.erase(die, earliest_ns)).max();
        medium.stats.erased_superblocks += 1;
        self.superblocks.erased(victim.superblock);
        self.residents.forget(victim.superblock);
        end_ns.unwrap_or(now_ns)
    }
}
