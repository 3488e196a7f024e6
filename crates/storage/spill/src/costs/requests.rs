//! Cost of single requests.

use super::{ReadCost, SpillCosts};

impl SpillCosts {
    /// Time of one read, in seconds.
    pub(crate) fn read_seconds(&self, cost: ReadCost) -> f64 {
        cost.request_bytes as f64 / cost.bytes_per_second + self.request_seconds
    }

    /// Returns the deepest measured reads of the same length, at most at `depth`.
    pub(crate) fn deepest(&self, cost: ReadCost, depth: u32) -> ReadCost {
        let deeper = self.random_reads.iter().filter(|other| {
            other.request_bytes == cost.request_bytes && (cost.depth..=depth).contains(&other.depth)
        });
        deeper.max_by_key(|other| other.depth).copied().unwrap_or(cost)
    }

    /// Returns the shallowest measured reads of the same length.
    pub(crate) fn single(&self, cost: ReadCost) -> ReadCost {
        let same = self.random_reads.iter().filter(|other| other.request_bytes == cost.request_bytes);
        same.min_by_key(|other| other.depth).copied().unwrap_or(cost)
    }

    /// Returns true if two outstanding reads of the shortest size reach more than 1.5 times the
    /// bandwidth of one. A disk gains less: it only reorders reads across its whole surface, which
    /// reads of one partition don't allow.
    pub(crate) fn serves_several(&self) -> bool {
        let at = |depth: u32| {
            let reads = self.random_reads.iter().filter(|cost| cost.depth == depth);
            let shortest = reads.min_by_key(|cost| cost.request_bytes)?;
            Some(shortest.bytes_per_second)
        };
        matches!((at(1), at(2)), (Some(one), Some(two)) if two > 1.5 * one)
    }

    /// Time of one write of `bytes` bytes that follows another write, in seconds.
    pub(crate) fn write_seconds(&self, bytes: f64) -> f64 {
        bytes / self.write_bytes_per_second + self.request_seconds
    }

    /// Extra time of a write among reads at `depth`, in seconds: the time of the shortest read at
    /// that depth. On a disk this is the seek; on flash it is close to zero.
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
    fn parallel_reads_differ_from_reordered_reads() {
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
