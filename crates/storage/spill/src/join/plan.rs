//! Division of the memory, and the cluster size and fan-out chosen for it.
//!
//! ```text
//! while rows come          │ write buffers (at most an eighth) │ lists (a sixteenth) │ area: rows, buckets, filter, a body for each partition │
//! joining spilled pairs    │ the same                          │ the same            │ read buffers (an eighth) │ rows over edges │ area    │
//! ```

use nandle_io::Shape;
use nandle_io::buffer::GRAIN_BYTES;

use super::JoinOptions;
use super::estimate::{Estimate, Prediction, Sides};
use super::hybrid::by_partition_bytes;
use super::partition::PartitionReader;
use crate::SpillError;
use crate::budget::buffers_bytes;
use crate::costs::{EXPECTED_BYTES_MAX, ReadCost, Work, WriteMemory};

/// Divisor of the memory that limits the length of a write buffer.
const WRITE_BUFFER_PART: usize = 16;

/// Plan of a join for the rows that don't fit into memory.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct JoinPlan {
    /// Length of a read, in bytes.
    pub cluster_bytes: usize,
    /// Reads kept outstanding, as far as memory allows.
    pub depth: u32,
    /// Bandwidth of these reads, in bytes per second.
    pub read_bytes_per_second: f64,
    /// Partitions of a side.
    pub fan_out: usize,
    /// Maximum number of times that a row is written and read, if keys spread evenly.
    pub levels: u32,
    /// Predicted device time in seconds, if both sides are as long as the expected build side.
    pub seconds: f64,
}

impl JoinPlan {
    pub(super) fn read_cost(&self) -> ReadCost {
        let Self { cluster_bytes, depth, read_bytes_per_second, .. } = *self;
        ReadCost { request_bytes: cluster_bytes, depth, bytes_per_second: read_bytes_per_second }
    }
}

/// Division of the memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MemoryDivision {
    pub(super) writes: WriteMemory,
    /// Memory for lists of partitions and pairs.
    pub(super) lists_bytes: usize,
    /// Memory for rows while the input arrives.
    pub(super) area_bytes: usize,
    /// Memory for read buffers while pairs are joined.
    read_bytes: usize,
    /// Length of the longest row that can be joined.
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
        // Two such rows may cross clusters while pairs are joined, and a third of the rest is for
        // partitions' bodies.
        let row_bytes_max = (area_bytes / 8).min(u32::MAX as usize);
        Ok(Self { writes, lists_bytes, area_bytes, read_bytes, row_bytes_max })
    }

    /// Number of clusters that two readers together can have in flight or waiting; at least two.
    pub(super) fn read_buffers(&self, cluster_bytes: usize, depth: u32) -> usize {
        // Each reader consumes one cluster while the others are in flight.
        let wanted = 2 * (depth as usize + 1);
        let fitting =
            (2..=wanted).take_while(|count| buffers_bytes(*count, cluster_bytes) <= self.read_bytes);
        fitting.last().unwrap_or(2)
    }

    /// The smallest area while pairs are joined: the longest rows cross clusters.
    fn pair_area_bytes(&self, read_buffers: usize, cluster_bytes: usize) -> usize {
        let read_bytes = buffers_bytes(read_buffers, cluster_bytes);
        let over_edges_bytes = 2 * PartitionReader::overhead_bytes(self.row_bytes_max, read_buffers);
        self.area_bytes.saturating_sub(read_bytes + over_edges_bytes) / GRAIN_BYTES * GRAIN_BYTES
    }
}

/// Join to plan.
struct Task<'a> {
    options: &'a JoinOptions,
    memory: MemoryDivision,
    build_bytes: u64,
}

/// Chooses the clusters and fan-out with the least predicted time.
pub(super) fn choose(
    options: &JoinOptions,
    memory: MemoryDivision,
    shape: &Shape,
) -> Result<JoinPlan, SpillError> {
    let in_memory = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
    // An input of unknown size is taken to be 64 times the memory.
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
    // On a tie, the larger fan-out has room for more rows than expected.
    let best = plans
        .min_by(|one, other| one.seconds.total_cmp(&other.seconds).then(other.fan_out.cmp(&one.fan_out)));
    best.ok_or_else(|| SpillError::Memory {
        purpose: "joining two partitions",
        needed_bytes: 32 * options.cluster_bytes.unwrap_or(work.block_bytes).max(GRAIN_BYTES) as u64,
        budget_bytes: options.budget.bytes() as u64,
    })
}

impl Task<'_> {
    /// Returns true if memory allows this depth for each of two readers, or no smaller depth was
    /// measured.
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
        // A piece of a pair holds at least one row.
        if most(memory.area_bytes) < 2 || pair_area_bytes < 2 * memory.row_bytes_max {
            return None;
        }
        let estimate = Estimate {
            area_bytes: pair_area_bytes,
            fan_out_max: most(pair_area_bytes),
            ..Estimate::of(&options.costs, cost, memory.writes)
        };
        let fan_out = enough_partitions(*build_bytes, memory.area_bytes).min(most(memory.area_bytes));
        let expected = estimate.of_input(Sides::equal(*build_bytes), fan_out, memory.area_bytes);
        let Prediction { seconds, levels } = expected;
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

/// Maximum number of partitions in a division. Bodies take at most a third of the area, so a full
/// area always holds a partition longer than a body. A quarter of the lists is kept for pairs that
/// are divided again.
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

/// Number of partitions needed for `bytes`: twice the minimum, because partitions differ in length.
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
    fn slow_seeks_call_for_large_clusters_and_fast_ones_for_large_fan_out() {
        let disk = plan(one_at_a_time(10e-3), 2 << 20, 200 << 20);
        let flash = plan(one_at_a_time(2e-6), 2 << 20, 200 << 20);
        assert!(disk.cluster_bytes > 4 * flash.cluster_bytes, "{disk:?} {flash:?}");
        assert!(disk.fan_out < flash.fan_out, "{disk:?} {flash:?}");
    }

    #[test]
    fn planned_depth_fits_into_memory() {
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
        // An eighth of the memory is for read buffers.
        assert!(2 * chosen.depth as usize * chosen.cluster_bytes <= 256 << 10, "{chosen:?}");
    }

    #[test]
    fn nearly_fitting_input_takes_few_partitions() {
        assert_eq!(plan(SpillCosts::default(), 1 << 20, 1 << 20).fan_out, 4);
        assert_eq!(plan(SpillCosts::default(), 1 << 20, 1 << 10).levels, 0);
    }
}
