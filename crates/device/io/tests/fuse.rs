//! Durable writes on a file system that accepts their flag, but ignores it in asynchronous calls.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test's way to fail")]

mod common;

use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use common::fuse::Fuse;
use common::real_worlds;
use nandle_io::{Access, Arena, DeviceFile, DurableWrites, FileOptions, Operation, Request, Wait};

const BLOCK_BYTES: usize = 4096;

#[test]
fn a_durable_write_is_synced_when_it_completes() {
    let Some(fuse) = Fuse::mount(1 << 20) else { return };
    let arena = Arena::new(1 << 16).unwrap();
    for mut world in real_worlds() {
        let file = File::options().read(true).write(true).open(fuse.path()).unwrap();
        let file = Arc::new(DeviceFile::new(file, FileOptions::default()).unwrap());
        assert_eq!(file.shape().access, Access::Direct);
        assert_eq!(file.shape().durable_writes, DurableWrites::WriteThenFlush);
        let device = world.add_file(file).id;
        let backend = world.backend();
        assert!(backend.stepped_down.iter().any(|note| note.contains("RWF_DSYNC")), "{backend:?}");
        for number in 0..20 {
            let block = arena.allocate(BLOCK_BYTES).unwrap().freeze();
            let operation = Operation::durable_write(number * BLOCK_BYTES as u64, block);
            world.submit(device, Request { token: number, operation }).unwrap();
            let mut completions = Vec::new();
            world.reap(Wait::until_completed(1), &mut completions);
            completions[0].result.clone().unwrap();
            assert_eq!(fuse.asked.unsynced.load(Ordering::SeqCst), 0, "{}: write {number}", backend.name);
        }
    }
    assert_eq!(fuse.asked.writes.load(Ordering::SeqCst), 20 * real_worlds().len() as u64);
}

/// Precondition of the count in the test above.
#[test]
fn a_volatile_write_is_not_synced() {
    let Some(fuse) = Fuse::mount(1 << 20) else { return };
    let arena = Arena::new(1 << 16).unwrap();
    for mut world in real_worlds() {
        let file = File::options().read(true).write(true).open(fuse.path()).unwrap();
        let device = world.add_file(Arc::new(DeviceFile::new(file, FileOptions::default()).unwrap())).id;
        let operations =
            [Operation::write(0, arena.allocate(BLOCK_BYTES).unwrap().freeze()), Operation::Flush];
        for (operation, unsynced) in operations.into_iter().zip([1, 0]) {
            world.submit(device, Request { token: 0, operation }).unwrap();
            let mut completions = Vec::new();
            world.reap(Wait::until_completed(1), &mut completions);
            completions[0].result.clone().unwrap();
            assert_eq!(fuse.asked.unsynced.load(Ordering::SeqCst), unsynced);
        }
    }
}
