//! Counters of a flash drive.

use nandle_io::DriveCounters;
use serde::{Deserialize, Serialize};

/// Counters since the drive, or its aged state, was made.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FlashStats {
    /// Bytes that the host wrote.
    pub host_written_bytes: u64,
    /// Mapping units that the host wrote, wholly or in part.
    pub host_written_units: u64,
    /// Host-written units replaced in the buffer before their program operation; they took no
    /// flash.
    pub overwritten_in_buffer_units: u64,
    /// Mapping units that cleaning or merging wrote.
    pub moved_units: u64,
    /// Mapping units programmed without data, because the operation could not wait.
    pub padded_units: u64,
    /// Mapping units that were discarded.
    pub discarded_units: u64,
    /// Mapping units that read-ahead fetched.
    pub prefetched_units: u64,
    /// Prefetched units that a command then read.
    pub prefetched_used_units: u64,
    /// Pages of the map that were read because they were not in the controller's memory.
    pub map_pages_read: u64,
    /// Retries of page reads after uncorrectable errors.
    pub read_retries: u64,
    /// Mapping units of changed map pages, written when they were evicted from the controller's
    /// memory.
    pub map_units_written: u64,
    /// Requests that the host merged into another command.
    pub merged_requests: u64,
    /// Log superblocks that became data superblocks without copying.
    pub switch_merges: u64,
    /// Log superblocks completed with data copied from the data superblock.
    pub partial_merges: u64,
    /// Log superblocks whose data was gathered in a new superblock.
    pub full_merges: u64,
    /// Superblocks erased.
    pub erased_superblocks: u64,
}

impl FlashStats {
    /// Counters in bytes.
    pub(crate) fn counters(&self, unit_bytes: u64, superblock_bytes: u64) -> DriveCounters {
        DriveCounters {
            host_written_bytes: self.host_written_bytes,
            flash_written_bytes: self.programmed_units() * unit_bytes,
            // The map's own blocks aren't modelled: they count as erased each time they are
            // written.
            erased_bytes: self.erased_superblocks * superblock_bytes + self.map_units_written * unit_bytes,
            discarded_bytes: self.discarded_units * unit_bytes,
        }
    }

    fn programmed_units(&self) -> u64 {
        let from_host = self.host_written_units - self.overwritten_in_buffer_units;
        from_host + self.moved_units + self.padded_units + self.map_units_written
    }

    /// Units programmed per unit that the host wrote; `None` if it wrote none.
    pub fn write_amplification(&self) -> Option<f64> {
        (self.host_written_units > 0).then(|| self.programmed_units() as f64 / self.host_written_units as f64)
    }
}

/// Erase counts of the superblocks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EraseCounts {
    /// Least count.
    pub least: u32,
    /// Mean count.
    pub mean: f64,
    /// Greatest count.
    pub most: u32,
}

impl EraseCounts {
    pub(crate) fn of(counts: impl Iterator<Item = u32>) -> Self {
        let (mut least, mut most, mut sum, mut number) = (u32::MAX, 0, 0_u64, 0_u64);
        for count in counts {
            least = least.min(count);
            most = most.max(count);
            sum += u64::from(count);
            number += 1;
        }
        Self { least: least.min(most), mean: sum as f64 / number.max(1) as f64, most }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_map_takes_is_programmed_and_erased() {
        let stats = FlashStats {
            host_written_units: 64,
            host_written_bytes: 64 << 12,
            moved_units: 64,
            map_units_written: 128,
            erased_superblocks: 2,
            ..FlashStats::default()
        };
        let counters = stats.counters(1 << 12, 64 << 12);
        assert_eq!(counters.flash_written_bytes, 256 << 12);
        assert_eq!(counters.erased_bytes, counters.flash_written_bytes);
    }
}
