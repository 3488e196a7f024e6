//! The program as a user meets it: the real binary on the real disk, in directories of its own, with small files and
//! short budgets. [`common`] opens with the list of what is covered where.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "all of it is tests, though not every function is marked as one"
)]

mod advise;
mod bad_input;
mod capture;
mod common;
mod compare;
mod elsewhere;
mod experiments;
mod faults;
mod foreign_data;
mod full_disk;
mod interrupt;
mod join;
mod limits;
mod models;
mod models_begin;
mod pages;
mod policy;
mod predict;
mod probe;
mod replay;
mod replay_addresses;
mod replay_stores;
mod replay_trouble;
mod report;
mod result_files;
mod rows_input;
mod schema;
mod shell;
mod silent_device;
mod sort;
mod stories;
mod sweep;
mod sweep_loads;
mod sweep_plan;
mod sweep_resume;
mod terminal;
mod trace;
mod trace_formats;
mod trace_play;
mod units;
mod unprivileged;
#[cfg(feature = "verify")]
mod verdict;
mod verify;
mod workload;
