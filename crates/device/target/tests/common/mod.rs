//! Helpers shared by the tests of opening.
#![allow(dead_code, reason = "each test program uses a part of it")]
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "these are test helpers")]

use std::path::Path;
use std::process::Command;

use nandle_io::{Arena, IoError, Operation, Request, Wait};
use nandle_target::{Intent, OpenOptions, OpenedIo, Target, TargetError, TargetSpec};

pub(crate) const MIB: u64 = 1 << 20;
/// More than any machine has.
pub(crate) const WITHOUT_SPACE: u64 = 1 << 50;

/// Options for a small test file.
pub(crate) fn read_options() -> OpenOptions {
    OpenOptions { test_file_bytes: 4 * MIB + 100, ..OpenOptions::default() }
}

pub(crate) fn write_options() -> OpenOptions {
    OpenOptions { intent: Intent::Write, ..read_options() }
}

pub(crate) fn open(path: &Path, options: &OpenOptions) -> Result<Target, TargetError> {
    Target::open(TargetSpec::Path(path.into()), options.clone())
}

#[track_caller]
pub(crate) fn open_error(path: &Path, options: &OpenOptions) -> TargetError {
    open(path, options).unwrap_err()
}

pub(crate) fn target_entries(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// Reports prominently that a test did not run.
pub(crate) fn skip(why: &str) {
    say(&format!("SKIPPED: {why}"));
}

/// Prints to the output of the tests.
pub(crate) fn say(what: &str) {
    eprintln!("{what}");
}

/// Runs a program; the error contains its output.
pub(crate) fn run(program: &str, arguments: &[&str]) -> Result<String, String> {
    let output =
        Command::new(program).args(arguments).output().map_err(|error| format!("{program}: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned());
    }
    Err(format!("{program} {arguments:?}: {}", String::from_utf8_lossy(&output.stderr)))
}

/// Writes a block at an offset.
pub(crate) fn write(mut opened: OpenedIo, offset_bytes: u64) -> Result<(), IoError> {
    let buffer = Arena::new(1 << 16).unwrap().allocate(4096).unwrap();
    let request = Request { token: 0, operation: Operation::write(offset_bytes, buffer.freeze()) };
    opened.io.submit(opened.device.id, request).unwrap();
    let mut completions = Vec::new();
    opened.io.reap(Wait::until_completed(1), &mut completions);
    completions.pop().unwrap().result
}

/// Writes a block of the device and reads it back.
pub(crate) fn write_and_read(mut opened: OpenedIo) {
    let arena = Arena::new(1 << 16).unwrap();
    let mut buffer = arena.allocate(4096).unwrap();
    buffer.fill(0xa5);
    let mut completions = Vec::new();
    let device = opened.device.id;
    opened
        .io
        .submit(device, Request { token: 1, operation: Operation::write(8192, buffer.freeze()) })
        .unwrap();
    opened.io.reap(Wait::until_completed(1), &mut completions);
    assert_eq!(completions.pop().unwrap().result, Ok(()));
    let buffer = arena.allocate(4096).unwrap();
    opened.io.submit(device, Request { token: 2, operation: Operation::read(8192, buffer) }).unwrap();
    opened.io.reap(Wait::until_completed(1), &mut completions);
    let completion = completions.pop().unwrap();
    assert_eq!(completion.result, Ok(()));
    assert!(completion.operation.into_read_buffer().unwrap().iter().all(|byte| *byte == 0xa5));
}
