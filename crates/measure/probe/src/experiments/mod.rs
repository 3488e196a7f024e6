//! Experiments: a question about a device each, what it does to the device to answer it, and what that costs.
//!
//! An [`Experiment`] runs in a [`Lab`]: a world with the device in it, an allotment of time and of bytes that it may
//! write, and a seed. [`plan`] chooses experiments for a budget, [`conduct`] runs what was chosen and keeps what was
//! found, complete or not.

mod array_layout;
mod atomic_write;
mod change;
mod conduct;
mod depth;
mod discard;
mod experiment;
mod fill_level;
mod flush;
mod host_files;
mod interference;
mod lab;
mod large_writes;
mod plan;
mod read_ahead;
mod reads;
mod rounds;
mod scaling;
mod series;
mod shares;
mod smallest_block;
mod statistics;
mod steady_state;
mod sync_reads;
mod transactions;
mod write_cache;
mod write_patterns;

#[cfg(test)]
mod tests;

pub use conduct::{ExperimentEnv, conduct, derive, ended_early, with_failures};
pub use experiment::{Circumstances, Cost, DynExperiment, Experiment};
pub use host_files::{HostFiles, Opened, TestFile};
pub use lab::Lab;
pub use plan::{Chosen, Plan, PlanError, Selection, plan};
pub use reads::READS;

/// Every experiment but the [read side](READS), which comes before them, in the order in which they run: what reads comes first, what leaves its marks on the device last.
pub static ALL: [&dyn DynExperiment; 15] = [
    &atomic_write::AtomicWriteUnits,
    &smallest_block::SmallestBlockSearch,
    &sync_reads::SyncReadsComparison,
    &read_ahead::ReadAheadSearch,
    &scaling::ScalingOverThreads,
    &array_layout::ArrayDetection,
    &flush::FlushAndCommit,
    &interference::Interference,
    &large_writes::LargeSequentialWrites,
    &write_patterns::WritePatternCosts,
    &transactions::ShortTransactions,
    &write_cache::WriteCacheSearch,
    &discard::DiscardTimes,
    &steady_state::SteadyStateRounds,
    &fill_level::FillAndFragment,
];

/// The names of all that a probe measures: the read side and every experiment.
pub fn names() -> impl Iterator<Item = &'static str> {
    ALL.into_iter().map(DynExperiment::name).chain([READS])
}
