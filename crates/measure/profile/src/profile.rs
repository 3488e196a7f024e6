use serde::{Deserialize, Serialize};

use crate::{
    Backend, Batch, Contradiction, Derived, Experiments, Identity, Interval, MeasuredCell, OthersLoad,
    SkippedCell, SystemFacts,
};

/// Version of the profile's JSON; it rises when a key changes its meaning. 0 is the read side alone, and can still be
/// read: what it hasn't measured is missing from it.
pub const PROFILE_SCHEMA_VERSION: u32 = 1;

/// Everything known of one device.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeviceProfile {
    /// [`PROFILE_SCHEMA_VERSION`] of the program that wrote it.
    pub schema_version: u32,
    /// Program and version.
    pub made_by: String,
    /// When the probe began, in seconds since 1970.
    pub made_at_unix_s: u64,
    /// The target as the user named it, a relative path made absolute.
    pub target: String,
    /// Why the profile is partial; empty when everything asked for was concluded.
    pub partial: Vec<String>,
    /// Which device it is.
    pub identity: Identity,
    /// What the system says of it.
    pub system: SystemFacts,
    /// Where the measurement says otherwise.
    pub contradictions: Vec<Contradiction>,
    /// How requests reached it.
    pub backend: Backend,
    /// Under which conditions it was measured.
    pub conditions: Conditions,
    /// What follows for a database.
    pub derived: Derived,
    /// First touch of freshly written blocks against reading them again; `null` when it was not measured.
    pub first_touch: Option<FirstTouch>,
    /// The measured cells.
    pub cells: Vec<MeasuredCell>,
    /// Batches of random reads that found the device idle; empty where there was no time for them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub batches: Vec<Batch>,
    /// Cells of the grid that were not measured, from the fitted curve.
    pub fitted_cells: Vec<FittedCell>,
    /// The fitted curve itself; `null` when there were too few cells.
    pub fit: Option<FitSummary>,
    /// Cells that were left out, with the reason.
    pub skipped: Vec<SkippedCell>,
    /// What the experiments found, most of which write.
    #[serde(default)]
    pub experiments: Experiments,
}

/// Under which conditions a profile was measured.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Conditions {
    /// Time that the user allowed.
    pub budget_ns: u64,
    /// Time that the read side took, with the writing of the test file.
    pub elapsed_ns: u64,
    /// Time spent writing the test file; 0 when it was there already.
    pub fill_ns: u64,
    /// Size of the area that was addressed.
    pub file_bytes: u64,
    /// Size that had been wanted, when a slow or a full device made the file smaller.
    pub wanted_file_bytes: u64,
    /// Whether the contents of each read were checked against what had been written.
    pub contents_checked: bool,
    /// Seed of the patterns and of the order of slices.
    pub seed: u64,
    /// Submitting threads.
    pub threads: u32,
    /// Rounds of slices.
    pub rounds: u32,
    /// Whether the read side came to its end and no read failed; a probe that is resumed measures it again when that is
    /// not so.
    #[serde(default)]
    pub reads_complete: bool,
    /// The cell that was measured again and again to follow the device's drift.
    pub reference: Option<ReferenceCell>,
    /// Share of processor time that the hypervisor gave to others meanwhile; `null` where unknown.
    pub stolen_cpu_share: Option<f64>,
    /// Share of the time in which some task of the machine waited for I/O (`/proc/pressure/io`).
    pub io_pressure_share: Option<f64>,
    /// Share of the time in which some task waited for a processor (`/proc/pressure/cpu`).
    pub cpu_pressure_share: Option<f64>,
    /// What others asked of the disk right before the probe; `null` of a model, and where the system doesn't say.
    #[serde(default)]
    pub others_before: Option<OthersLoad>,
    /// What others asked of it beside the probe.
    #[serde(default)]
    pub others_meanwhile: Option<OthersLoad>,
    /// Reads that failed or whose contents were wrong.
    pub errors: u64,
    /// What a reader of the figures should know, each a sentence.
    pub remarks: Vec<String>,
}

/// From this share of the time on some task waited for a processor: the machine had more to do than it could.
pub const CPU_PRESSURE_MAX: f64 = 0.2;

impl Conditions {
    /// The share of the time in which some task waited for a processor, where it is so large that figures may be the machine's rather than
    /// the device's.
    pub fn short_of_processors(&self) -> Option<f64> {
        self.cpu_pressure_share.filter(|share| *share >= CPU_PRESSURE_MAX)
    }
}

/// The reference cell and how steady it was.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReferenceCell {
    /// Bytes of one request.
    pub block_bytes: u64,
    /// Requests outstanding.
    pub queue_depth: u32,
    /// Number of slices.
    pub slices: u32,
    /// Median bandwidth of its slices.
    pub bandwidth_bytes_per_s: f64,
    /// Standard deviation of its slices' bandwidth, as a share of their mean: the device's own noise.
    pub variation: f64,
    /// Its slices, in the order in which they were measured.
    pub series: Vec<ReferenceSlice>,
}

/// One slice of the reference cell.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReferenceSlice {
    /// When it began, since the measuring began.
    pub began_ns: u64,
    /// What it gave.
    pub bandwidth_bytes_per_s: f64,
}

/// Reading blocks for the first time after they were written, against reading the same blocks again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FirstTouch {
    /// Bytes of one request.
    pub block_bytes: u64,
    /// Requests outstanding.
    pub queue_depth: u32,
    /// Bandwidth of the first reading.
    pub first_bandwidth_bytes_per_s: f64,
    /// Bandwidth of the reading after it, of the same addresses.
    pub again_bandwidth_bytes_per_s: f64,
    /// First by again, with its interval over pieces of the file.
    pub ratio: Interval<f64>,
}

/// A cell that follows from the fitted curve and the measured cells about it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FittedCell {
    /// Bytes of one request.
    pub block_bytes: u64,
    /// Requests outstanding.
    pub queue_depth: u32,
    /// Bandwidth, random reading, group of 1, with its 95 % interval.
    pub bandwidth_bytes_per_s: Interval<f64>,
}

/// The curve of random reading over block size and queue depth (group of 1).
///
/// `1/X^p = (t/(q·b))^p + (1/(i·b))^p + (1/w)^p` with `t = request_ns + b · ns_per_byte`: latency bound,
/// request-rate bound and bandwidth bound, joined smoothly; on top of it what the measured cells about a cell say
/// beyond the curve (kriging). The error is that of leaving one measured cell out and predicting it from the others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FitSummary {
    /// Time of a request of no length at depth 1.
    pub request_ns: f64,
    /// Time that each byte adds at depth 1.
    pub ns_per_byte: f64,
    /// The request-rate bound.
    pub iops_max: f64,
    /// The bandwidth bound.
    pub bandwidth_bytes_per_s_max: f64,
    /// How sharp the knees are.
    pub sharpness: f64,
    /// Median relative error when a cell is left out.
    pub error_median: f64,
    /// 90th percentile of the same.
    pub error_p90: f64,
}
