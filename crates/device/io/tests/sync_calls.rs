//! Files that grow with writes, and the two system calls that make them durable.
#![allow(clippy::unwrap_used, reason = "a test's way to fail")]

mod common;

use std::sync::Arc;

use common::{RealWorld, disk_directory, real_worlds};
use nandle_io::{
    Arena, Cause, DeviceFile, DeviceId, FileOptions, IoError, Operation, Request, SyncCall, Wait,
};

const BLOCK_BYTES: u64 = 4096;

fn growing_file(sync: SyncCall) -> Arc<DeviceFile> {
    let file = tempfile::tempfile_in(disk_directory()).unwrap();
    let file = DeviceFile::new(file, FileOptions::default()).unwrap();
    Arc::new(file.with_sync(sync).growing_to(4 * BLOCK_BYTES + 17))
}

fn run(world: &mut dyn RealWorld, device: DeviceId, operation: Operation) -> Result<(), IoError> {
    world.submit(device, Request { token: 0, operation }).unwrap();
    let mut completions = Vec::new();
    world.reap(Wait::until_completed(1), &mut completions);
    completions.pop().unwrap().result
}

#[test]
fn a_file_grows_with_its_durable_writes_and_not_beyond_what_was_said() {
    let arena = Arena::new(1 << 16).unwrap();
    let block = || arena.allocate(usize::try_from(BLOCK_BYTES).unwrap()).unwrap().freeze();
    for sync in [SyncCall::Fdatasync, SyncCall::Fsync] {
        for mut world in real_worlds() {
            let file = growing_file(sync);
            let device = world.add_file(Arc::clone(&file)).id;
            for number in 0..4 {
                assert_eq!(file.file().metadata().unwrap().len(), number * BLOCK_BYTES);
                run(&mut *world, device, Operation::durable_write(number * BLOCK_BYTES, block())).unwrap();
            }
            run(&mut *world, device, Operation::Flush).unwrap();
            let beyond = run(&mut *world, device, Operation::write(4 * BLOCK_BYTES, block())).unwrap_err();
            let capacity_bytes = 4 * BLOCK_BYTES + 17 - 17 % file.shape().logical_block_bytes;
            let end_bytes = 5 * BLOCK_BYTES;
            assert_eq!(beyond.cause, Cause::BeyondEnd { end_bytes, capacity_bytes });
        }
    }
}

/// Observes the system calls from outside: `strace` counts those of a child that runs the test
/// above.
#[test]
fn each_sync_call_is_the_one_that_was_asked_for() {
    let me = std::env::current_exe().unwrap();
    let traced = std::process::Command::new("strace")
        .args(["-f", "-e", "trace=fsync,fdatasync"])
        .arg(me)
        .args(["--exact", "a_file_grows_with_its_durable_writes_and_not_beyond_what_was_said"])
        .output();
    let traced = match traced {
        Ok(output) if output.status.success() => String::from_utf8_lossy(&output.stderr).into_owned(),
        other => return common::skipped("counting system calls", &format!("strace: {other:?}")),
    };
    // Once each in the pool's thread and in the caller's; the ring's aren't system calls.
    assert_eq!(traced.matches("fdatasync(").count(), 2, "{traced}");
    assert_eq!(traced.matches(" fsync(").count(), 2, "{traced}");
}
