//! Merging of a log superblock with its data superblock.
//!
//! - *switch*: the log was written in order and covers everything; it becomes the data superblock.
//! - *partial*: it was written in order so far; the rest is copied behind it, then it is switched.
//! - *full*: the newest version of each unit is copied to a free superblock.

use super::super::chips::DieIndex;
use super::Medium;
use super::hybrid::{Data, HybridMap};
use super::lazy_array::NONE;
use super::log_superblock::LogSuperblock;

impl HybridMap {
    /// Merges a log; returns the end of the chips' work.
    pub(super) fn merge(&mut self, log: usize, earliest_ns: u64, medium: &mut Medium<'_>) -> u64 {
        let log = self.logs.swap_remove(log);
        let Some(&data) = self.data.get(log.logical as usize) else { return earliest_ns };
        let extent = data.extent.max(log.extent());
        if !log.in_order {
            return self.merge_fully(&log, data, extent, earliest_ns, medium);
        }
        let mut copied_ns = earliest_ns;
        if log.written < extent {
            medium.stats.partial_merges += 1;
            copied_ns = self.copy(log.written..extent, earliest_ns, medium);
        } else {
            medium.stats.switch_merges += 1;
        }
        self.become_data(log.logical, log.physical, extent);
        self.erase(data.physical, copied_ns, medium)
    }

    fn merge_fully(
        &mut self,
        log: &LogSuperblock,
        data: Data,
        extent: u32,
        earliest_ns: u64,
        medium: &mut Medium<'_>,
    ) -> u64 {
        medium.stats.full_merges += 1;
        let Some(target) = self.free.pop_front() else { return earliest_ns };
        let copied_ns = self.copy(0..extent, earliest_ns, medium);
        self.become_data(log.logical, target, extent);
        let erased_ns = self.erase(log.physical, copied_ns, medium);
        self.erase(data.physical, copied_ns, medium).max(erased_ns)
    }

    fn become_data(&mut self, logical: u32, physical: u32, extent: u32) {
        if let Some(data) = self.data.get_mut(logical as usize) {
            *data = Data { physical, extent };
        }
    }

    /// Copies units, each die its own share; the planes of a die work together.
    fn copy(&mut self, units: std::ops::Range<u32>, earliest_ns: u64, medium: &mut Medium<'_>) -> u64 {
        medium.stats.moved_units += u64::from(units.end - units.start);
        let per_program = self.geometry.units_per_program();
        let programs = u64::from(units.end.div_ceil(per_program) - units.start / per_program);
        let dies = u64::from(self.geometry.dies());
        let first_die = u64::from(self.geometry.die_of(units.start));
        let share = |die: u64| programs / dies + u64::from((die + dies - first_die) % dies < programs % dies);
        (0..self.geometry.dies())
            .map(|die: DieIndex| medium.chips.copy_within(die, earliest_ns, share(u64::from(die))))
            .max()
            .unwrap_or(earliest_ns)
    }

    fn erase(&mut self, physical: u32, earliest_ns: u64, medium: &mut Medium<'_>) -> u64 {
        if physical == NONE {
            return earliest_ns;
        }
        medium.stats.erased_superblocks += 1;
        if let Some(count) = self.erases.get_mut(physical as usize) {
            *count += 1;
        }
        self.free.push_back(physical);
        (0..self.geometry.dies()).map(|die| medium.chips.erase(die, earliest_ns)).max().unwrap_or(earliest_ns)
    }
}
