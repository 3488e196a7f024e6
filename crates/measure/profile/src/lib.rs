//! The device profile: measurements of a storage device, facts from the system, and derived figures
//! for a database, in one versioned JSON file. This crate defines the types, reads and writes the
//! file, and computes only what readers of the file need (costs between measured points). It must
//! never do I/O on a device, and it depends on no other crate of the workspace.
//!
//! Every key of the JSON ends in its unit (`latency_ns`, `bandwidth_bytes_per_s`). A figure that
//! wasn't measured is `null`, never zero.

pub mod arithmetic;
mod batch;
mod cell;
mod cheap;
mod commit;
mod costs;
mod derived;
mod derived_writes;
pub mod experiments;
mod figures;
mod file;
mod interval;
mod isotonic;
mod long_writing;
mod names;
mod near_full;
mod others;
mod profile;
mod read;
#[cfg(feature = "schema")]
mod schema;
mod sweep;
mod system;
mod text;
mod upgrade;

pub use batch::Batch;
pub use cell::{Cell, DriveWork, LatencySummary, MeasuredCell, OperationKind, SecondSample, SkippedCell};
pub use cheap::{CHEAP_ORDERED, Cheap, Strides, is_cheap_stride};
pub use costs::{FlexibleIo, RequestCost};
pub use derived::{
    BlockAtDepth, DepthForBlock, Derived, EqualRegion, GroupPenalty, SplitObservation, SplitSize,
};
pub use derived_writes::{
    CommitTime, GroupCommitGain, InterferenceLimit, SteadyStateFigures, WritePatternCost,
};
pub use experiments::{Conducted, Experiments, SkippedExperiment};
pub use file::{ProfileError, read_profile, try_write, write_atomically, write_profile};
pub use interval::Interval;
pub use isotonic::{isotonic, weighted_isotonic};
pub use long_writing::{CLEANING_FACTOR_MIN, LongWriting, Steadiness, random_bytes_needed};
pub use names::is_kernel_name;
pub use near_full::{NEAR_FULL_SHARE, is_near_full};
pub use others::OthersLoad;
pub use profile::{
    CPU_PRESSURE_MAX, Conditions, DeviceProfile, FirstTouch, FitSummary, FittedCell, PROFILE_SCHEMA_VERSION,
    ReferenceCell, ReferenceSlice,
};
pub use read::{PROFILE_BYTES_MAX, SWEEP_BYTES_MAX, read_within};
#[cfg(feature = "schema")]
pub use schema::profile_schema;
pub use sweep::{SWEEP_SCHEMA_VERSION, SweepFile};
pub use system::{
    AtomicWrite, Backend, BlockQueue, Contradiction, FileSystem, Identity, MachineFacts,
    ROTATIONAL_LATENCY_NS_MIN, SystemFacts,
};
pub use text::{disturbs, escaped};
