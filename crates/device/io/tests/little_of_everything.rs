//! Worlds in a restricted process: they report it, and work nevertheless.
#![allow(clippy::unwrap_used, reason = "a test's way to fail")]

mod common;

use common::child::in_a_child_with;
use common::{SLOTS, file_in, memory_file};
use nandle_io::conformance::{
    check, completions_tell_the_truth, impossible_requests_are_refused, random_mixes_match_an_oracle,
};
use nandle_io::{Arena, Io, Threads, Uring};

#[test]
fn nothing_may_be_locked() {
    in_a_child_with("with_no_locked_memory", "--memlock=0");
}

#[test]
fn eight_mebibytes_may_be_locked() {
    in_a_child_with("with_eight_mebibytes_of_locked_memory", "--memlock=8388608");
}

#[test]
fn no_thread_may_be_started() {
    in_a_child_with("without_threads", "--nproc=1");
}

#[test]
#[ignore = "runs in a child of another test"]
fn with_no_locked_memory() {
    registers_a_part(0, 0);
}

#[test]
#[ignore = "runs in a child of another test"]
fn with_eight_mebibytes_of_locked_memory() {
    registers_a_part(2 << 20, 8 << 20);
}

/// Registers the lockable part of an arena, from `least` to `most` bytes, and passes the suite.
fn registers_a_part(least: usize, most: usize) {
    let Ok(mut ring) = Uring::new(SLOTS) else { return };
    let (large, small) = (Arena::new(32 << 20).unwrap(), Arena::new(4096).unwrap());
    let registered = ring.register(&large);
    assert!((least..=most).contains(&registered), "{registered} bytes");
    assert!(ring.register(&small) <= most);
    let complaints = ring.backend().stepped_down;
    assert!(complaints.iter().any(|complaint| complaint.contains("RLIMIT_MEMLOCK")), "{complaints:?}");
    for file in [file_in(&std::env::temp_dir(), 4 << 20, true), memory_file()] {
        let device = ring.add(file);
        check(&mut ring, &device, 11);
    }
}

#[test]
#[ignore = "runs in a child of another test"]
fn without_threads() {
    assert!(std::thread::Builder::new().spawn(|| {}).is_err(), "the limit holds");
    let mut world = Threads::new(SLOTS);
    let device = world.add(memory_file());
    impossible_requests_are_refused(&mut world, &device, 12);
    completions_tell_the_truth(&mut world, &device, 12);
    random_mixes_match_an_oracle(&mut world, &device, 12);
    let complaints = world.backend().stepped_down;
    assert!(complaints.iter().any(|complaint| complaint.contains("thread")), "{complaints:?}");
}
