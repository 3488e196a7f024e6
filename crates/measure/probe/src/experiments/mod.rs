//! Experiments. Each answers a question about a device with a defined load and cost.
//!
//! An [`Experiment`] runs in a [`Lab`]: a world with the device, budgets of time and written bytes,
//! and a seed. [`plan`] chooses experiments for a budget. [`conduct`] runs the chosen ones and
//! keeps their findings, complete or not.

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
pub use plan::{Plan, PlanError, PlannedExperiment, Selection, plan};
pub use reads::READS;

/// All experiments except the [reads](READS), which run first. They run in this order: reading
/// experiments first, those that change the device most last.
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

/// Names of all measurements of a probe: the reads and every experiment.
pub fn names() -> impl Iterator<Item = &'static str> {
    ALL.into_iter().map(DynExperiment::name).chain([READS])
}
