//! Experiments on modelled drives, with results that follow from their parameters, and on the real
//! disk.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests may panic")]

mod array_layout;
mod bench;
mod faults;
mod flush;
mod interference;
mod large_writes;
mod others;
mod read_ahead;
mod smallest_block;
mod sweep_and_probe;
