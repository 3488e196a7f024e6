//! What came of a run, and the file that holds runs.

use serde::Serialize;

use crate::recorder::{AreaRecord, Stream};
use crate::{Operator, Pattern, Role};

/// Version of the JSON of [`WorkloadFile`].
pub const WORKLOAD_SCHEMA_VERSION: u32 = 1;

/// A run's figures.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outcome {
    /// Memory of the operator.
    pub memory_bytes: u64,
    /// What one read of temporary data brought.
    pub cluster_bytes: u64,
    /// Making runs and merging, or partitioning and joining.
    pub phases: [Phase; 2],
    /// Both.
    pub elapsed_ns: u64,
    /// Rows of the result.
    pub result_records: u64,
    /// The most memory that was taken at once.
    pub memory_used_bytes: u64,
    /// Of a sort.
    pub sort: Option<SortFigures>,
    /// Of a join.
    pub join: Option<JoinFigures>,
    /// What was asked of input, temporary data and output.
    pub areas: Vec<AreaFigures>,
    /// Requests to the temporary data over time, where it is of interest.
    pub pattern: Option<Pattern>,
}

/// A part of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Phase {
    /// What was done.
    pub name: &'static str,
    /// How long it took, in the world's time.
    pub elapsed_ns: u64,
}

/// What a sort did.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct SortFigures {
    /// Runs that were written; 0: everything stayed in memory.
    pub runs: u64,
    /// Runs that can be merged at once; 0 where nothing was written.
    pub fan_in: u64,
    /// Merges whose result was written to the temporary space.
    pub merges_before_the_last: u64,
    /// Runs that the last merge joined.
    pub last_fan_in: u64,
    /// What the device alone was predicted to take for merging.
    pub predicted_merge_ns: Option<f64>,
}

/// What a join did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct JoinFigures {
    /// Partitions of a side.
    pub fan_out: u64,
    /// Partitions of the first level that were written; 0: everything stayed in memory.
    pub spilled_partitions: u64,
    /// Pairs of partitions that were divided again.
    pub divided_pairs: u64,
    /// How often a row was written, at most.
    pub levels: u64,
    /// Pairs of partitions that were joined piece by piece.
    pub block_loops: u64,
}

/// What was asked of one part of the devices.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct AreaFigures {
    /// Which part.
    pub role: Role,
    /// Reads.
    pub read_requests: u64,
    /// Their bytes.
    pub read_bytes: u64,
    /// Reads that began where the one before had ended; absent of fewer than two.
    pub sequential_reads_share: Option<f64>,
    /// Writes.
    pub write_requests: u64,
    /// Their bytes.
    pub written_bytes: u64,
    /// Writes that began where the one before had ended; absent of fewer than two.
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
    /// How many runs or partitions memory allows at once: the fan-in of a sort, the fan-out of a join.
    pub fn fan(&self) -> u64 {
        let sort = self.sort.map(|sort| sort.fan_in);
        sort.or(self.join.map(|join| join.fan_out)).unwrap_or(0)
    }

    /// The same without what is long.
    #[must_use]
    pub fn without_pattern(self) -> Self {
        Self { pattern: None, ..self }
    }

    /// How long a phase took.
    pub fn phase_ns(&self, number: usize) -> u64 {
        self.phases.get(number).map_or(0, |phase| phase.elapsed_ns)
    }

    /// Whether nothing was written to the temporary space.
    pub fn stayed_in_memory(&self) -> bool {
        self.area(Role::Temporary).is_none_or(|area| area.write_requests == 0)
    }

    /// What was asked of a part.
    pub fn area(&self, role: Role) -> Option<&AreaFigures> {
        self.areas.iter().find(|area| area.role == role)
    }
}

/// One run of [`WorkloadFile`]: a workload with one cluster and one memory.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WorkloadRun {
    /// The cluster that was wanted; absent where it followed from the device's costs.
    pub wanted_cluster_bytes: Option<u64>,
    /// The memory that was wanted.
    pub memory_bytes: u64,
    /// Its figures; absent where it couldn't be done.
    pub outcome: Option<Outcome>,
    /// Why it couldn't be done.
    pub refusal: Option<String>,
}

/// What `nandle workload` finds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WorkloadFile {
    /// See [`WORKLOAD_SCHEMA_VERSION`].
    pub schema_version: u32,
    /// Sort or join.
    pub operator: Operator,
    /// Rows of each table.
    pub records: u64,
    /// Bytes of a row.
    pub row_bytes: u64,
    /// Bytes of its key.
    pub key_bytes: u64,
    /// What the rows follow from.
    pub seed: u64,
    /// Times are modelled drives'.
    pub is_modelled: bool,
    /// Where the input lies.
    pub input: String,
    /// Where the temporary data lie.
    pub temporary: String,
    /// Where the output lies.
    pub output: String,
    /// Where the costs come from by which clusters are chosen.
    pub costs: String,
    /// What a reader of the figures should know, each a sentence.
    pub remarks: Vec<String>,
    /// One, or those of a sweep.
    pub runs: Vec<WorkloadRun>,
}
