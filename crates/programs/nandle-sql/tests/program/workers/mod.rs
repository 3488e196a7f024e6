//! End-to-end tests of workers: processes on one machine, over the same files or copies.

mod data;
mod fleet;
mod kills;
mod losses;
mod queries;
mod refusals;
mod secrets;
mod spilling;
mod tpch;
