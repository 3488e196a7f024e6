use super::JoinPlan;

/// Statistics of a join.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct JoinReport {
    /// Rows of the build side.
    pub build_rows: u64,
    /// Rows of the probe side.
    pub probe_rows: u64,
    /// Rows passed to the sink.
    pub result_rows: u64,
    /// Plan chosen at the start.
    pub plan: JoinPlan,
    /// Partitions destaged on the first level; 0 if everything stayed in memory.
    pub spilled_partitions: u64,
    /// Pairs of partitions that were divided again.
    pub divided_pairs: u64,
    /// Maximum number of times that a row was written.
    pub levels: u32,
    /// Pairs of partitions joined with the probe side in memory.
    pub swapped_pairs: u64,
    /// Pairs of partitions joined by a block loop, because neither side fitted into memory.
    pub block_loops: u64,
    /// Pieces of all block loops.
    pub block_loop_pieces: u64,
    /// Rows that were not written, because the filter showed that no row of the other side has
    /// their key.
    pub filtered_rows: u64,
    /// Bytes written to the temporary space.
    pub written_bytes: u64,
    /// Write requests.
    pub write_requests: u64,
    /// Bytes read from the temporary space.
    pub read_bytes: u64,
    /// Read requests.
    pub read_requests: u64,
    /// Peak memory of the budget in use, in bytes.
    pub most_used_bytes: usize,
}

impl JoinReport {
    pub(super) fn new(plan: JoinPlan) -> Self {
        Self {
            build_rows: 0,
            probe_rows: 0,
            result_rows: 0,
            plan,
            spilled_partitions: 0,
            divided_pairs: 0,
            levels: 0,
            swapped_pairs: 0,
            block_loops: 0,
            block_loop_pieces: 0,
            filtered_rows: 0,
            written_bytes: 0,
            write_requests: 0,
            read_bytes: 0,
            read_requests: 0,
            most_used_bytes: 0,
        }
    }

    /// Sums the statistics of two joins that each had a share of the keys.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            build_rows: self.build_rows + other.build_rows,
            probe_rows: self.probe_rows + other.probe_rows,
            result_rows: self.result_rows + other.result_rows,
            plan: self.plan,
            spilled_partitions: self.spilled_partitions + other.spilled_partitions,
            divided_pairs: self.divided_pairs + other.divided_pairs,
            levels: self.levels.max(other.levels),
            swapped_pairs: self.swapped_pairs + other.swapped_pairs,
            block_loops: self.block_loops + other.block_loops,
            block_loop_pieces: self.block_loop_pieces + other.block_loop_pieces,
            filtered_rows: self.filtered_rows + other.filtered_rows,
            written_bytes: self.written_bytes + other.written_bytes,
            write_requests: self.write_requests + other.write_requests,
            read_bytes: self.read_bytes + other.read_bytes,
            read_requests: self.read_requests + other.read_requests,
            most_used_bytes: self.most_used_bytes + other.most_used_bytes,
        }
    }
}
