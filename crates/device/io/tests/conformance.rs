//! Conformance on the real worlds and on the world in memory, over files on disk and in memory.
#![allow(clippy::unwrap_used, reason = "a test's way to fail")]

mod common;

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use common::{RealWorld, disk_file, file_in, memory_file, real_worlds, skipped};
use nandle_io::conformance::{MemoryWorld, abandoned_requests_keep_their_memory, check};
use nandle_io::{
    Access, Arena, Cause, Device, DeviceFile, FileOptions, Io, Nanos, Operation, Request, Threads, Uring,
    Wait,
};

fn check_on_both(seed: u64, add: impl Fn(&mut dyn RealWorld) -> Device) {
    for mut world in real_worlds() {
        let device = add(&mut *world);
        check(&mut *world, &device, seed);
    }
}

#[test]
fn files_on_disk() {
    check_on_both(1, |world| {
        let device = world.add_file(disk_file());
        if device.shape.access != Access::Direct {
            skipped("direct I/O", &common::disk_directory().display());
        }
        device
    });
}

#[test]
fn buffered_files_on_disk() {
    check_on_both(2, |world| world.add_file(file_in(common::disk_directory(), 3 << 20, false)));
}

#[test]
fn files_in_memory() {
    check_on_both(3, |world| {
        let device = world.add_file(memory_file());
        assert!(matches!(device.shape.access, Access::Buffered { .. }));
        device
    });
}

#[test]
fn the_second_device_and_the_seventieth() {
    // Beyond the ring's table of files, requests use descriptors.
    check_on_both(4, |world| {
        let add = |_| world.add_file(file_in(Path::new(common::MEMORY_DIRECTORY), 1 << 20, true));
        let devices: Vec<Device> = (0..70).map(add).collect();
        devices.last().unwrap().clone()
    });
}

#[test]
fn read_only_files() {
    for mut world in real_worlds() {
        let named = tempfile::NamedTempFile::new_in(common::disk_directory()).unwrap();
        named.as_file().set_len(1 << 20).unwrap();
        let file = DeviceFile::new(File::open(named.path()).unwrap(), FileOptions::default()).unwrap();
        let device = world.add_file(Arc::new(file));
        assert!(!device.shape.writable);
        check(&mut *world, &device, 5);
    }
}

#[test]
fn worlds_of_one_slot() {
    let mut worlds: Vec<Box<dyn RealWorld>> = vec![Box::new(Threads::new(0))];
    worlds.extend(Uring::new(0).ok().map(|ring| Box::new(ring) as Box<dyn RealWorld>));
    for mut world in worlds {
        assert_eq!(world.slots(), 1);
        let device = world.add_file(memory_file());
        check(&mut *world, &device, 6);
    }
}

#[test]
fn more_slots_than_a_ring_has() {
    for slots in [40_000, 1 << 31, u32::MAX] {
        assert!(Uring::new(slots).is_ok_and(|ring| ring.slots() == 32_767));
    }
}

#[test]
fn a_fresh_world_has_nothing_to_wait_for() {
    for mut world in real_worlds() {
        world.reap(Wait::until_completed(1), &mut Vec::new());
        assert_eq!(world.in_flight(), 0);
    }
}

#[test]
fn the_world_in_memory() {
    for latency in [Nanos::ZERO, Nanos::from_micros(80)] {
        let mut world = MemoryWorld::new(16, latency);
        let small = world.add(1 << 20, 1);
        let large = world.add(3 << 20, 4096);
        check(&mut world, &small, 7);
        check(&mut world, &large, 8);
    }
}

#[test]
fn abandoned_requests() {
    for world in 0..real_worlds().len() {
        for file in [disk_file(), memory_file()] {
            abandoned_requests_keep_their_memory(|| {
                let mut world = real_worlds().swap_remove(world);
                let device = world.add_file(Arc::clone(&file));
                (world as Box<dyn Io>, device)
            });
        }
    }
}

#[test]
fn files_that_are_cut_short_are_told_from_errors() {
    for mut world in real_worlds() {
        for (file, left) in
            [(memory_file(), 5000), (disk_file(), 4096), (disk_file(), 5000), (disk_file(), 0)]
        {
            let device = world.add_file(Arc::clone(&file));
            file.file().set_len(left).unwrap();
            let arena = Arena::new(1 << 16).unwrap();
            let operation = Operation::read(0, arena.allocate(16_384).unwrap());
            world.submit(device.id, Request { token: 1, operation }).unwrap();
            let mut completions = Vec::new();
            world.reap(Wait::until_completed(1), &mut completions);
            let error = completions.pop().unwrap().result.unwrap_err();
            assert_eq!(error.cause, Cause::Short { moved_bytes: left });
        }
    }
}
