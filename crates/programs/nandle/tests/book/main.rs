//! Tests the book under `docs/`: its commands print what it shows, and its reference matches
//! `--help`.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "all of it is tests, though not every function is marked as one"
)]

mod console;
mod reference;

use std::path::PathBuf;

fn book() -> PathBuf {
    PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap()).join("../../../docs")
}

#[test]
fn measuring_says_what_happens() {
    console::run_chapter("measuring.md");
}

#[test]
fn deciding_says_what_happens() {
    console::run_chapter("deciding.md");
}

#[test]
fn storing_says_what_happens() {
    console::run_chapter("storing.md");
}

#[test]
fn proving_says_what_happens() {
    console::run_chapter("proving.md");
}

#[test]
fn traces_says_what_happens() {
    console::run_chapter("traces.md");
}
