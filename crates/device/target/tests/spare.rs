//! Additional test files, and blocking worlds.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

use nandle_io::{Arena, Cause, Operation, Request, SyncCall, Wait};
use nandle_target::{Intent, OpenOptions, OpenedIo, SpareFile, Target};

const SPARE: SpareFile =
    SpareFile { bytes: 64 << 10, reserved: true, direct: true, sync: SyncCall::Fdatasync };

fn target(spec: &str) -> Target {
    let options = OpenOptions { intent: Intent::Write, test_file_bytes: 1 << 20, ..OpenOptions::default() };
    Target::open(spec.parse().unwrap(), options).unwrap()
}

fn write(opened: &mut OpenedIo, offset_bytes: u64) -> Result<(), Cause> {
    let block = Arena::new(4096).unwrap().allocate(4096).unwrap().freeze();
    let operation = Operation::durable_write(offset_bytes, block);
    opened.io.submit(opened.device.id, Request { token: 1, operation }).unwrap();
    let mut completions = Vec::new();
    opened.io.reap(Wait::until_completed(1), &mut completions);
    completions.pop().unwrap().result.map_err(|error| error.cause)
}

#[test]
fn a_spare_file_has_a_fixed_size_and_is_removed() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let target = target(directory.path().to_str().unwrap());
    for reserved in [true, false] {
        for direct in [true, false] {
            let mut opened = target.spare_file(SpareFile { reserved, direct, ..SPARE }).unwrap();
            assert_eq!(opened.io.backend().name, "blocking");
            for block in 0..16 {
                write(&mut opened, block * 4096).unwrap();
            }
            let beyond = write(&mut opened, SPARE.bytes);
            assert!(matches!(beyond, Err(Cause::BeyondEnd { .. })), "{beyond:?}");
        }
    }
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn the_target_opens_in_a_blocking_world() {
    let target = target(env!("CARGO_TARGET_TMPDIR"));
    let mut opened = target.blocking().unwrap();
    assert_eq!(opened.device.shape.capacity_bytes, 1 << 20);
    write(&mut opened, 8192).unwrap();
}

#[test]
fn models_and_arrays_have_no_blocking_io_and_no_spare_files() {
    for spec in ["model:mtron-16", "raid0:4KiB:model:mtron-16*2"] {
        let target = target(spec);
        assert!(target.blocking().unwrap_err().to_string().contains("blocking system calls"));
        assert!(target.spare_file(SPARE).unwrap_err().to_string().contains("directory"));
    }
}
