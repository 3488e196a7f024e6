//! Queries by planned reads, compared with the engine's own reader.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests are part of them")]

mod changing_filters;
mod checked;
mod ends;
mod explained;
mod faults;
mod foreign;
mod hosts;
mod literals;
mod memory;
mod names;
mod orders;
mod partitions;
mod requests;
mod results;
mod sessions;
mod slt;
mod spilling;
mod support;
mod tpch;
mod views;
