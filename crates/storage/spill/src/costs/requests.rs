//! What single requests take.

use super::{ReadCost, SpillCosts};

impl SpillCosts {
    /// What one of such reads takes, in seconds.
    pub(crate) fn read_seconds(&self, cost: ReadCost) -> f64 {
        cost.request_bytes as f64 / cost.bytes_per_second + self.request_seconds
    }

    /// Reads of the same length with more outstanding, as far as was measured and at most so many.
    pub(crate) fn deepest(&self, cost: ReadCost, depth: u32) -> ReadCost {
        let deeper = self.random_reads.iter().filter(|other| {
            other.request_bytes == cost.request_bytes && (cost.depth..=depth).contains(&other.depth)
        });
        deeper.max_by_key(|other| other.depth).copied().unwrap_or(cost)
    }

    /// Reads of the same length with the fewest outstanding that were measured.
    pub(crate) fn single(&self, cost: ReadCost) -> ReadCost {
        let same = self.random_reads.iter().filter(|other| other.request_bytes == cost.request_bytes);
        same.min_by_key(|other| other.depth).copied().unwrap_or(cost)
    }

    /// Whether two of the shortest reads are nearer to being served at once than one behind the other. An arm gains less, and by their
    /// order alone: it has places all over the device to choose from, which those of a partition aren't.
    pub(crate) fn serves_several(&self) -> bool {
        let at = |depth: u32| {
            let reads = self.random_reads.iter().filter(|cost| cost.depth == depth);
            let shortest = reads.min_by_key(|cost| cost.request_bytes)?;
            Some(shortest.bytes_per_second)
        };
        matches!((at(1), at(2)), (Some(one), Some(two)) if two > 1.5 * one)
    }

    /// What one write of so many bytes takes behind another, in seconds.
    pub(crate) fn write_seconds(&self, bytes: f64) -> f64 {
        bytes / self.write_bytes_per_second + self.request_seconds
    }

    /// What a write takes beside that where so many reads are outstanding: as long as the shortest read then does, which is all for
    /// its place on a disk, and next to nothing on flash.
    pub(crate) fn turn_seconds(&self, depth: u32) -> f64 {
        let reads = self.random_reads.iter().filter(|cost| cost.depth <= depth);
        let seconds = reads.map(|cost| cost.request_bytes as f64 / cost.bytes_per_second);
        seconds.min_by(f64::total_cmp).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::costs::tests::{one_at_a_time, parallel};

    #[test]
    fn reads_at_once_are_told_from_reads_in_a_good_order() {
        assert!(parallel(16, 0.0).serves_several());
        assert!(!one_at_a_time(10e-3).serves_several());
        let mut arm = one_at_a_time(10e-3);
        let sorted = arm.random_reads.clone().into_iter();
        let sorted =
            sorted.map(|one| ReadCost { depth: 2, bytes_per_second: 1.3 * one.bytes_per_second, ..one });
        arm.random_reads.extend(sorted);
        assert!(!arm.serves_several());
        assert!(arm.turn_seconds(1) > 10e-3 && arm.turn_seconds(2) < 10e-3, "{arm:?}");
    }
}
