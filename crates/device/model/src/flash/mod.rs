//! Timing of a flash drive. A request passes these stages, each in its own file:
//!
//! ```text
//! host queue (splits, merges what waits) → command queue (a bounded number of slots) → firmware → link
//!   → write buffer / read-ahead → mapping (page map, or block map with logs) → dies and channels
//! ```
//!
//! Every resource is a `Timeline` that stores its busy-until time and the idle gaps before it. So a
//! command is computed completely when it starts, and the event heap holds one event per command
//! segment instead of one per phase.

mod chips;
mod command_queue;
mod die;
mod drive;
mod firmware;
mod host_queue;
mod link;
mod map_memory;
mod mapping;
mod page_reads;
pub mod parameters;
mod read_ahead;
mod requests;
mod service;
mod state;
mod stats;
pub(crate) mod units;
mod write_buffer;

pub use drive::FlashDrive;
pub use parameters::{FlashParameters, ParameterError};
pub use state::{AgedState, StateError};
pub use stats::{EraseCounts, FlashStats};
