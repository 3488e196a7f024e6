use serde::{Deserialize, Serialize};

use crate::{
    Backend, Batch, Contradiction, Derived, Experiments, Identity, Interval, MeasuredCell, OthersLoad,
    SkippedCell, SystemFacts,
};

/// Version of the profile's JSON. It increases when a key changes its meaning. Version 0 only
/// contains reads and is still accepted; other measurements are missing in it.
pub const PROFILE_SCHEMA_VERSION: u32 = 1;

/// All information about one device.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeviceProfile {
    /// Schema version of the program that wrote it.
    pub schema_version: u32,
    /// Program name and version.
    pub made_by: String,
    /// Start of the probe, in seconds since 1970.
    pub made_at_unix_s: u64,
    /// Target as named by the user, with an absolute path.
    pub target: String,
    /// Reasons why the profile is partial; empty if it is complete.
    pub partial: Vec<String>,
    /// Identity of the device.
    pub identity: Identity,
    /// Facts from the system about the device.
    pub system: SystemFacts,
    /// Contradictions between these facts and the measurement.
    pub contradictions: Vec<Contradiction>,
    /// I/O interface used for the measurement.
    pub backend: Backend,
    /// Conditions of the measurement.
    pub conditions: Conditions,
    /// Derived figures for a database.
    pub derived: Derived,
    /// Comparison of the first read of freshly written blocks with later reads; `null` if it wasn't
    /// measured.
    pub first_touch: Option<FirstTouch>,
    /// Measured cells.
    pub cells: Vec<MeasuredCell>,
    /// Batches of random reads on the idle device; empty if there was no time for them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub batches: Vec<Batch>,
    /// Unmeasured cells of the grid, from the fitted curve.
    pub fitted_cells: Vec<FittedCell>,
    /// Fitted curve; `null` if there were too few cells.
    pub fit: Option<FitSummary>,
    /// Skipped cells with the reason.
    pub skipped: Vec<SkippedCell>,
    /// Findings of the experiments, most of which write.
    #[serde(default)]
    pub experiments: Experiments,
}

/// Conditions of a measurement.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Conditions {
    /// Time budget given by the user.
    pub budget_ns: u64,
    /// Time taken by the reads, including writing the test file.
    pub elapsed_ns: u64,
    /// Time for writing the test file; 0 if it already existed.
    pub fill_ns: u64,
    /// Size of the addressed area.
    pub file_bytes: u64,
    /// Requested size of the area. A slow or full device gives a smaller file.
    pub wanted_file_bytes: u64,
    /// True if the contents of each read were verified.
    pub contents_checked: bool,
    /// Seed of the patterns and of the order of slices.
    pub seed: u64,
    /// Submitting threads.
    pub threads: u32,
    /// Number of rounds of slices.
    pub rounds: u32,
    /// True if the reads ran to their end without a failure. A resumed probe repeats incomplete
    /// reads.
    #[serde(default)]
    pub reads_complete: bool,
    /// Reference cell, measured repeatedly to follow the device's drift.
    pub reference: Option<ReferenceCell>,
    /// Share of processor time that the hypervisor gave to other machines; `null` if unknown.
    pub stolen_cpu_share: Option<f64>,
    /// Share of the time in which some task of the machine waited for I/O (`/proc/pressure/io`).
    pub io_pressure_share: Option<f64>,
    /// Share of the time in which some task waited for a processor (`/proc/pressure/cpu`).
    pub cpu_pressure_share: Option<f64>,
    /// Load on the disk by others right before the probe; `null` for a model, or if unknown.
    #[serde(default)]
    pub others_before: Option<OthersLoad>,
    /// Load on the disk by others during the probe.
    #[serde(default)]
    pub others_meanwhile: Option<OthersLoad>,
    /// Reads that failed or returned wrong contents.
    pub errors: u64,
    /// Remarks for the reader of the figures, each a sentence.
    pub remarks: Vec<String>,
}

/// Share of time with tasks waiting for a processor from which the machine counts as overloaded.
pub const CPU_PRESSURE_MAX: f64 = 0.2;

impl Conditions {
    /// Share of time with tasks waiting for a processor, if it is so high that the figures may
    /// reflect the machine instead of the device.
    pub fn short_of_processors(&self) -> Option<f64> {
        self.cpu_pressure_share.filter(|share| *share >= CPU_PRESSURE_MAX)
    }
}

/// Reference cell and its steadiness.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReferenceCell {
    /// Bytes of one request.
    pub block_bytes: u64,
    /// Queue depth.
    pub queue_depth: u32,
    /// Number of slices.
    pub slices: u32,
    /// Median bandwidth of its slices.
    pub bandwidth_bytes_per_s: f64,
    /// Standard deviation of the slices' bandwidth relative to their mean: the device's own noise.
    pub variation: f64,
    /// Slices in order of measurement.
    pub series: Vec<ReferenceSlice>,
}

/// One slice of the reference cell.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReferenceSlice {
    /// Start time since the start of the measurement.
    pub began_ns: u64,
    /// Bandwidth of the slice.
    pub bandwidth_bytes_per_s: f64,
}

/// First read of freshly written blocks, compared with reading them again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FirstTouch {
    /// Bytes of one request.
    pub block_bytes: u64,
    /// Queue depth.
    pub queue_depth: u32,
    /// Bandwidth of the first read.
    pub first_bandwidth_bytes_per_s: f64,
    /// Bandwidth of the next read of the same addresses.
    pub again_bandwidth_bytes_per_s: f64,
    /// Ratio of first to next, with its interval over pieces of the file.
    pub ratio: Interval<f64>,
}

/// Cell computed from the fitted curve and neighbouring measured cells.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FittedCell {
    /// Bytes of one request.
    pub block_bytes: u64,
    /// Queue depth.
    pub queue_depth: u32,
    /// Bandwidth of random reads of single blocks, with its 95 % interval.
    pub bandwidth_bytes_per_s: Interval<f64>,
}

/// Curve of random reads of single blocks over block size and queue depth.
///
/// `1/X^p = (t/(q·b))^p + (1/(i·b))^p + (1/w)^p` with `t = request_ns + b · ns_per_byte`: a smooth
/// minimum of the bounds by latency, by request rate and by bandwidth. Measured neighbours of a
/// cell correct the curve (kriging). The error is that of predicting a left-out cell from the
/// others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FitSummary {
    /// Time of a request of zero bytes at depth 1.
    pub request_ns: f64,
    /// Time per byte at depth 1.
    pub ns_per_byte: f64,
    /// Upper bound of requests per second.
    pub iops_max: f64,
    /// Upper bound of bytes per second.
    pub bandwidth_bytes_per_s_max: f64,
    /// Sharpness of the knees.
    pub sharpness: f64,
    /// Median relative leave-one-out error.
    pub error_median: f64,
    /// 90th percentile of the relative leave-one-out error.
    pub error_p90: f64,
}
