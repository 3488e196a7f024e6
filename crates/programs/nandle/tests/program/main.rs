//! End-to-end tests: the real binary on the real disk, in private directories, with small files and
//! short budgets. [`common`] begins with the list of what each file covers.
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
