//! Experiments: a question about a device each, what it does to the device to answer it, and what that costs.
//!
//! An [`Experiment`] runs in a [`Lab`]: a world with the device in it, an allotment of time and of bytes that it may
//! write, and a seed. [`plan`] chooses experiments for a budget, [`conduct`] runs what was chosen and keeps what was
//! found, complete or not.

mod array_layout;
mod atomic_write;
mod beside;
mod change;
mod conduct;
mod depth;
mod discard;
mod experiment;
mod fill_level;
mod flush;
mod interference;
mod lab;
mod large_writes;
mod plan;
mod read_ahead;
mod rounds;
mod scaling;
mod series;
mod shares;
mod smallest_block;
mod statistics;
mod steady_state;
mod sync_reads;
mod write_cache;
mod write_patterns;

#[cfg(test)]
mod tests;

pub use beside::{Beside, Opened, TestFile};
pub use conduct::{Ground, conduct, derive, ended_early, with_failures};
pub use experiment::{Circumstances, Conductible, Cost, Experiment};
pub use lab::Lab;
pub use plan::{Chosen, Plan, PlanError, Wishes, plan};

/// Every experiment, in the order in which they run: what reads comes first, what leaves its marks on the device last.
pub static ALL: [&dyn Conductible; 14] = [
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
    &write_cache::WriteCacheSearch,
    &discard::DiscardTimes,
    &steady_state::SteadyStateRounds,
    &fill_level::FillAndFragment,
];
