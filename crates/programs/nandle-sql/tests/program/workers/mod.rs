//! Workers as users run them: processes on one machine, over the same files or over copies.

mod data;
mod fleet;
mod kills;
mod losses;
mod queries;
mod refusals;
mod secrets;
mod spilling;
mod tpch;
