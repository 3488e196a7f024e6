//! Media of modelled devices: storage, loss and damage.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test's way to fail")]

mod arrays;
mod common;
mod cost;
mod determinism;
mod drives;
mod faults;
mod flushes;
mod oracle;
mod protocol;
mod survivors;
mod world;
