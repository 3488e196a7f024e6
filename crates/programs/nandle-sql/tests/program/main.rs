//! End-to-end tests of the program.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "helpers of tests are part of them"
)]

mod dashboard;
mod definition;
mod draw;
mod full_disk;
mod place;
mod queries;
mod reference;
mod serve;
mod workers;
