//! Figures of a run, and the file of runs.

use serde::Serialize;

use crate::recorder::{AreaRecord, Stream};
use crate::{Operator, Pattern, Role};

/// Version of the JSON of [`WorkloadFile`].
pub const WORKLOAD_SCHEMA_VERSION: u32 = 1;

/// Figures of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outcome {
    /// Memory of the operator, in bytes.
    pub memory_bytes: u64,
    /// Length of a read of temporary data, in bytes.
    pub cluster_bytes: u64,
    /// Times of making runs and merging, or of partitioning and joining.
    pub phases: [Phase; 2],
    /// Time of both phases, in nanoseconds.
    pub elapsed_ns: u64,
    /// Rows of the result.
    pub result_records: u64,
    /// Peak memory in use, in bytes.
    pub memory_used_bytes: u64,
    /// Figures of a sort.
    pub sort: Option<SortFigures>,
    /// Figures of a join.
    pub join: Option<JoinFigures>,
    /// Requests to input, temporary data and output.
    pub areas: Vec<AreaFigures>,
    /// Requests to the temporary data over time, if recorded.
    pub pattern: Option<Pattern>,
}

/// A phase of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Phase {
    /// Name of the phase.
    pub name: &'static str,
    /// Duration in the world's time, in nanoseconds.
    pub elapsed_ns: u64,
}

/// Statistics of a sort.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct SortFigures {
    /// Runs written; 0 if everything stayed in memory.
    pub runs: u64,
    /// Maximum number of runs in one merge; 0 if nothing was written.
    pub fan_in: u64,
    /// Merges whose result was written to the temporary space.
    pub merges_before_the_last: u64,
    /// Runs joined by the last merge.
    pub last_fan_in: u64,
    /// Predicted device time of merging, in nanoseconds.
    pub predicted_merge_ns: Option<f64>,
}

/// Statistics of a join.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct JoinFigures {
    /// Partitions of a side.
    pub fan_out: u64,
    /// Partitions destaged on the first level; 0 if everything stayed in memory.
    pub spilled_partitions: u64,
    /// Pairs of partitions that were divided again.
    pub divided_pairs: u64,
    /// Maximum number of times that a row was written.
    pub levels: u64,
    /// Pairs of partitions joined by a block loop.
    pub block_loops: u64,
}

/// Requests to one area.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct AreaFigures {
    /// Role of the area.
    pub role: Role,
    /// Read requests.
    pub read_requests: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Share of reads that began at the end of the previous read; absent for fewer than two reads.
    pub sequential_reads_share: Option<f64>,
    /// Write requests.
    pub write_requests: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Share of writes that began at the end of the previous write; absent for fewer than two
    /// writes.
    pub sequential_writes_share: Option<f64>,
}

impl AreaFigures {
    pub(crate) fn of(role: Role, record: &AreaRecord) -> Self {
        let AreaRecord { reads, writes } = record;
        Self {
            role,
            read_requests: reads.requests,
            read_bytes: reads.bytes,
            sequential_reads_share: Stream::sequential_share(reads),
            write_requests: writes.requests,
            written_bytes: writes.bytes,
            sequential_writes_share: Stream::sequential_share(writes),
        }
    }
}

impl Outcome {
    /// Fan-in of a sort, or fan-out of a join.
    pub fn fan(&self) -> u64 {
        let sort = self.sort.map(|sort| sort.fan_in);
        sort.or(self.join.map(|join| join.fan_out)).unwrap_or(0)
    }

    /// Drops the request pattern, which is long.
    #[must_use]
    pub fn without_pattern(self) -> Self {
        Self { pattern: None, ..self }
    }

    /// Duration of a phase, in nanoseconds.
    pub fn phase_ns(&self, number: usize) -> u64 {
        self.phases.get(number).map_or(0, |phase| phase.elapsed_ns)
    }

    /// Returns true if nothing was written to the temporary space.
    pub fn stayed_in_memory(&self) -> bool {
        self.area(Role::Temporary).is_none_or(|area| area.write_requests == 0)
    }

    /// Requests to the area of `role`.
    pub fn area(&self, role: Role) -> Option<&AreaFigures> {
        self.areas.iter().find(|area| area.role == role)
    }
}

/// One run of a [`WorkloadFile`], with one cluster size and one memory size.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WorkloadRun {
    /// Cluster length requested; absent if it was chosen by the device's costs.
    pub wanted_cluster_bytes: Option<u64>,
    /// Memory requested, in bytes.
    pub memory_bytes: u64,
    /// Figures; absent if the run was refused.
    pub outcome: Option<Outcome>,
    /// Reason for the refusal.
    pub refusal: Option<String>,
}

/// Result of `nandle workload`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WorkloadFile {
    /// Schema version: [`WORKLOAD_SCHEMA_VERSION`].
    pub schema_version: u32,
    /// Operator: sort or join.
    pub operator: Operator,
    /// Rows of each table.
    pub records: u64,
    /// Length of a row, in bytes.
    pub row_bytes: u64,
    /// Length of a key, in bytes.
    pub key_bytes: u64,
    /// Seed of the rows.
    pub seed: u64,
    /// True if times are of modelled drives.
    pub is_modelled: bool,
    /// Device of the input.
    pub input: String,
    /// Device of the temporary data.
    pub temporary: String,
    /// Device of the output.
    pub output: String,
    /// Source of the costs by which clusters were chosen.
    pub costs: String,
    /// Remarks for readers of the figures, each a sentence.
    pub remarks: Vec<String>,
    /// A single run, or the runs of a sweep.
    pub runs: Vec<WorkloadRun>,
}
