//! What of the memory is for what, and which clusters and fan-out follow.
//!
//! ```text
//! while rows come          │ write buffers (at most an eighth) │ lists (a sixteenth) │ area: rows, buckets, filter, a body for each partition │
//! joining spilled pairs    │ the same                          │ the same            │ read buffers (an eighth) │ rows over edges │ area    │
//! ```

use nandle_io::Shape;
use nandle_io::buffer::GRAIN_BYTES;

use super::JoinOptions;
use super::estimate::{Estimate, Expected, Sides};
use super::hybrid::by_partition_bytes;
use super::partition::PartitionReader;
use crate::SpillError;
use crate::budget::buffers_bytes;
use crate::costs::{EXPECTED_BYTES_MAX, ReadCost, Work, WriteMemory};

/// A write buffer is at most such a part of the memory.
const WRITE_BUFFER_PART: usize = 16;

/// What a join will do with what doesn't fit into memory.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct JoinPlan {
    /// What one request reads.
    pub cluster_bytes: usize,
    /// Requests kept outstanding, as far as memory allows.
    pub depth: u32,
    /// What the device reads in such requests.
    pub read_bytes_per_second: f64,
    /// Partitions of a side.
    pub fan_out: usize,
    /// How often a row is written and read, at most, if keys spread.
    pub levels: u32,
    /// What the device needs for that if both sides are as long as the build side is expected to be, in seconds.
    pub seconds: f64,
}

impl JoinPlan {
    pub(super) fn read_cost(&self) -> ReadCost {
        let Self { cluster_bytes, depth, read_bytes_per_second, .. } = *self;
        ReadCost { request_bytes: cluster_bytes, depth, bytes_per_second: read_bytes_per_second }
    }
}

/// How the memory is divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MemoryDivision {
    pub(super) writes: WriteMemory,
    /// Of partitions and of pairs of them.
    pub(super) lists_bytes: usize,
    /// While rows come.
    pub(super) area_bytes: usize,
    /// While pairs are joined.
    read_bytes: usize,
    /// The longest row that can be joined.
    pub(super) row_bytes_max: usize,
}

impl MemoryDivision {
    pub(super) fn of(options: &JoinOptions) -> Result<Self, SpillError> {
        options.costs.check()?;
        let budget_bytes = options.budget.bytes();
        let writes = options.costs.write_memory(budget_bytes, options.cluster_bytes, WRITE_BUFFER_PART)?;
        let lists_bytes = budget_bytes / 16;
        let others_bytes = lists_bytes + writes.bytes();
        let area_bytes = budget_bytes.saturating_sub(others_bytes) / GRAIN_BYTES * GRAIN_BYTES;
        if area_bytes < budget_bytes / 2 {
            return Err(SpillError::Memory {
                purpose: "joining with clusters of this size",
                needed_bytes: 16 * writes.buffer_bytes as u64,
                budget_bytes: budget_bytes as u64,
            });
        }
        let read_bytes = budget_bytes / 8;
        // Two of them lie over edges while pairs are joined, and a third of what is left is for partitions' bodies.
        let row_bytes_max = (area_bytes / 8).min(u32::MAX as usize);
        Ok(Self { writes, lists_bytes, area_bytes, read_bytes, row_bytes_max })
    }

    /// How many clusters can be read at once, or wait for being used, by two readers together: two at least.
    pub(super) fn read_buffers(&self, cluster_bytes: usize, depth: u32) -> usize {
        // One that is used, beside those that are read.
        let wanted = 2 * (depth as usize + 1);
        let fitting =
            (2..=wanted).take_while(|count| buffers_bytes(*count, cluster_bytes) <= self.read_bytes);
        fitting.last().unwrap_or(2)
    }

    /// The least area while pairs are joined, which is while the longest rows lie over edges.
    fn pair_area_bytes(&self, read_buffers: usize, cluster_bytes: usize) -> usize {
        let read_bytes = buffers_bytes(read_buffers, cluster_bytes);
        let over_edges_bytes = 2 * PartitionReader::overhead_bytes(self.row_bytes_max, read_buffers);
        self.area_bytes.saturating_sub(read_bytes + over_edges_bytes) / GRAIN_BYTES * GRAIN_BYTES
    }
}

/// What is to be joined, and on what.
struct Task<'a> {
    options: &'a JoinOptions,
    memory: MemoryDivision,
    build_bytes: u64,
}

/// Chooses clusters by the costs of the device.
pub(super) fn choose(
    options: &JoinOptions,
    memory: MemoryDivision,
    shape: &Shape,
) -> Result<JoinPlan, SpillError> {
    let in_memory = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
    // Of what isn't known so much is expected that it takes sixty-four times the memory.
    let build_bytes = options.expected_build_bytes.unwrap_or(64 * options.budget.bytes() as u64);
    let build_bytes = build_bytes.min(EXPECTED_BYTES_MAX);
    let work = Work {
        bytes: build_bytes,
        run_bytes: memory.area_bytes as u64,
        memory_bytes: memory.area_bytes,
        by_run_bytes: 0,
        block_bytes: in_memory(shape.logical_block_bytes),
        cluster_bytes_max: in_memory(shape.largest_transfer_bytes).min(memory.writes.buffer_bytes),
    };
    let task = Task { options, memory, build_bytes };
    let costs = options.costs.candidates(work, options.cluster_bytes);
    let plans = costs.iter().filter(|cost| task.reaches(cost, &costs)).filter_map(|cost| task.plan(*cost));
    // Of equals the one with the larger fan-out: it has room for what is longer than expected.
    let best = plans
        .min_by(|one, other| one.seconds.total_cmp(&other.seconds).then(other.fan_out.cmp(&one.fan_out)));
    best.ok_or_else(|| SpillError::Memory {
        purpose: "joining two partitions",
        needed_bytes: 32 * options.cluster_bytes.unwrap_or(work.block_bytes).max(GRAIN_BYTES) as u64,
        budget_bytes: options.budget.bytes() as u64,
    })
}

impl Task<'_> {
    /// Whether memory allows as many reads at once, of each of two partitions, or no fewer were measured.
    fn reaches(&self, cost: &ReadCost, all: &[ReadCost]) -> bool {
        let reached = self.memory.read_buffers(cost.request_bytes, cost.depth) / 2;
        let is_fewer =
            |other: &ReadCost| other.request_bytes == cost.request_bytes && other.depth < cost.depth;
        cost.depth as usize <= reached || !all.iter().any(is_fewer)
    }

    fn plan(&self, cost: ReadCost) -> Option<JoinPlan> {
        let ReadCost { request_bytes: cluster_bytes, depth, bytes_per_second } = cost;
        let Self { options, memory, build_bytes } = self;
        let read_buffers = memory.read_buffers(cluster_bytes, depth);
        let pair_area_bytes = memory.pair_area_bytes(read_buffers, cluster_bytes);
        let most = |area_bytes| {
            most_partitions(options, area_bytes, cluster_bytes, memory.lists_bytes, read_buffers)
        };
        // A piece of a pair has one row at least.
        if most(memory.area_bytes) < 2 || pair_area_bytes < 2 * memory.row_bytes_max {
            return None;
        }
        let estimate = Estimate {
            area_bytes: pair_area_bytes,
            fan_out_max: most(pair_area_bytes),
            ..Estimate::of(&options.costs, cost, memory.writes)
        };
        let fan_out = enough_partitions(*build_bytes, memory.area_bytes).min(most(memory.area_bytes));
        let expected = estimate.of_input(Sides::alike(*build_bytes), fan_out, memory.area_bytes);
        let Expected { seconds, levels } = expected;
        Some(JoinPlan {
            cluster_bytes,
            depth,
            read_bytes_per_second: bytes_per_second,
            fan_out,
            levels,
            seconds,
        })
    }
}

/// Into how many partitions rows can be divided. The bodies of all take a third of the area, so that whenever it is full one of
/// the partitions in it is longer than a body. A quarter of the lists is left for pairs that are divided again.
pub(super) fn most_partitions(
    options: &JoinOptions,
    area_bytes: usize,
    cluster_bytes: usize,
    lists_bytes: usize,
    reach: usize,
) -> usize {
    let by_area = area_bytes / 3 / cluster_bytes;
    let by_lists = lists_bytes * 3 / 4 / by_partition_bytes(reach);
    by_area.min(by_lists).min(options.fan_out_max.unwrap_or(usize::MAX).max(2))
}

/// No more partitions than are needed: twice as many as would fit into memory one by one, since they aren't of one length.
pub(super) fn enough_partitions(bytes: u64, area_bytes: usize) -> usize {
    let pieces = bytes.div_ceil(area_bytes.max(1) as u64);
    usize::try_from(2 * pieces).unwrap_or(usize::MAX).max(2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::costs::tests::one_at_a_time;
    use crate::{Budget, JoinKind, SpillCosts};

    fn plan(costs: SpillCosts, budget_bytes: usize, build_bytes: u64) -> JoinPlan {
        let options = JoinOptions {
            expected_build_bytes: Some(build_bytes),
            ..JoinOptions::new(Budget::new(budget_bytes).unwrap(), costs, JoinKind::Inner)
        };
        let memory = MemoryDivision::of(&options).unwrap();
        let shape = Shape {
            capacity_bytes: 1 << 40,
            logical_block_bytes: 512,
            memory_alignment_bytes: 512,
            largest_transfer_bytes: 1 << 20,
            access: nandle_io::Access::Direct,
            durable_writes: nandle_io::DurableWrites::OneCommand,
            writable: true,
            discards: true,
        };
        choose(&options, memory, &shape).unwrap()
    }

    #[test]
    fn seeks_make_clusters_large_and_their_lack_makes_fan_out_large() {
        let disk = plan(one_at_a_time(10e-3), 2 << 20, 200 << 20);
        let flash = plan(one_at_a_time(2e-6), 2 << 20, 200 << 20);
        assert!(disk.cluster_bytes > 4 * flash.cluster_bytes, "{disk:?} {flash:?}");
        assert!(disk.fan_out < flash.fan_out, "{disk:?} {flash:?}");
    }

    #[test]
    fn no_more_reads_are_expected_at_once_than_there_is_memory_for() {
        // Each doubling of the depth doubles what the device reads.
        let deep = |request_bytes: usize, depth: u32| ReadCost {
            request_bytes,
            depth,
            bytes_per_second: f64::from(depth) * request_bytes as f64 / 1e-3,
        };
        let sizes = [4096, 16_384, 65_536];
        let random_reads = sizes.iter().flat_map(|bytes| (0..9).map(|power| deep(*bytes, 1 << power)));
        let costs = SpillCosts { random_reads: random_reads.collect(), ..SpillCosts::default() };
        let chosen = plan(costs, 2 << 20, 200 << 20);
        // An eighth of the memory is for reading.
        assert!(2 * chosen.depth as usize * chosen.cluster_bytes <= 256 << 10, "{chosen:?}");
    }

    #[test]
    fn what_nearly_fits_takes_few_partitions() {
        assert_eq!(plan(SpillCosts::default(), 1 << 20, 1 << 20).fan_out, 4);
        assert_eq!(plan(SpillCosts::default(), 1 << 20, 1 << 10).levels, 0);
    }
}
