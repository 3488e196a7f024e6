//! Arrays: conformance over every world, layout of the bytes, and failing children.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test's way to fail")]

mod common;

use std::sync::Arc;

use common::{RealWorld, disk_file, file_in, memory_file, real_worlds};
use nandle_io::array::Leg;
use nandle_io::conformance::{Faults, MemoryWorld, abandoned_requests_keep_their_memory, check};
use nandle_io::{
    Arena, ArrayError, Arrays, Cause, Completion, Device, DeviceId, Io, Nanos, Operation, Request, Wait,
};

const CHUNK: u64 = 4096;
const CHUNK_LENGTH: usize = 4096;

fn ids(devices: &[Device]) -> Vec<DeviceId> {
    devices.iter().map(|device| device.id).collect()
}

/// Checks a raid0 and a raid10 on disjoint children of a world, with odd chunk sizes.
fn check_arrays(mut world: Box<dyn RealWorld>, seed: u64, mut add: impl FnMut(&mut dyn RealWorld) -> Device) {
    let devices: Vec<Device> = (0..7).map(|_| add(&mut *world)).collect();
    let mut arrays = Arrays::new(world);
    let striped = arrays.raid0(&ids(&devices[..3]), 3 * CHUNK).unwrap();
    let mirrored = arrays.raid10(&ids(&devices[3..]), 16 * CHUNK).unwrap();
    check(&mut arrays, &striped, seed);
    check(&mut arrays, &mirrored, seed);
    check(&mut arrays, &devices[0], seed);
    assert_eq!(arrays.read_retries(mirrored.id), 0);
}

#[test]
fn arrays_of_files_in_memory() {
    for world in real_worlds() {
        check_arrays(world, 31, |world| world.add_file(memory_file()));
    }
}

#[test]
fn arrays_of_files_on_disk() {
    for world in real_worlds() {
        check_arrays(world, 32, |world| world.add_file(file_in(common::disk_directory(), 2 << 20, true)));
    }
}

#[test]
fn abandoned_arrays() {
    let files = [disk_file(), memory_file(), disk_file(), memory_file()];
    for world in 0..real_worlds().len() {
        abandoned_requests_keep_their_memory(|| {
            let mut world = real_worlds().swap_remove(world);
            let devices = files.each_ref().map(|file| world.add_file(Arc::clone(file)));
            let mut arrays = Arrays::new(world);
            let device = arrays.raid10(&ids(&devices), CHUNK).unwrap();
            (Box::new(arrays), device)
        });
    }
}

/// World of arrays in memory, its four children and their faults.
fn in_memory(slots: usize) -> (Arrays, Vec<Device>, Faults) {
    let mut world = MemoryWorld::new(slots, Nanos::from_micros(70));
    let devices: Vec<Device> = (0..4).map(|number| world.add((1 << 20) + number * 512, 512)).collect();
    let faults = world.faults();
    (Arrays::new(Box::new(world)), devices, faults)
}

#[test]
fn arrays_in_memory_and_in_worlds_that_are_too_small_for_their_parts() {
    for (slots, seed) in [(64, 41), (5, 42), (1, 43)] {
        let (mut arrays, devices, _) = in_memory(slots);
        let striped = arrays.raid0(&ids(&devices), 512).unwrap();
        let mirrored = arrays.raid10(&ids(&devices), CHUNK).unwrap();
        assert_eq!(striped.shape.capacity_bytes, 4 << 20);
        assert_eq!(mirrored.shape.capacity_bytes, 2 << 20);
        check(&mut arrays, &striped, seed);
        check(&mut arrays, &mirrored, seed);
        check(&mut arrays, &devices[1], seed);
    }
}

/// Time of two requests with four chunks each on four devices, in a world with `room` slots for
/// parts.
fn time_of_two(room: usize) -> (Nanos, Vec<String>) {
    let latency = Nanos::from_micros(70);
    let mut world = MemoryWorld::new(room, latency);
    let devices: Vec<Device> = (0..4).map(|_| world.add(1 << 20, 512)).collect();
    let mut arrays = Arrays::with_slots(Box::new(world), 2);
    let striped = arrays.raid0(&ids(&devices), CHUNK).unwrap();
    assert_eq!(arrays.slots(), 2);
    let arena = Arena::new(8 * CHUNK_LENGTH).unwrap();
    for request in 0..2 {
        let operation = Operation::read(request * 4 * CHUNK, arena.allocate(4 * CHUNK_LENGTH).unwrap());
        arrays.submit(striped.id, Request { token: request, operation }).unwrap();
    }
    let third = Operation::Flush;
    assert!(
        arrays.submit(striped.id, Request { token: 2, operation: third }).is_err(),
        "there are two slots"
    );
    arrays.reap(Wait::until_completed(2), &mut Vec::new());
    (arrays.now(), arrays.backend().stepped_down)
}

#[test]
fn parts_of_requests_run_at_the_same_time_where_there_is_room() {
    let part = Nanos::from_micros(70) + Nanos(CHUNK / 8);
    assert_eq!(time_of_two(8), (part, Vec::new()));
    let (elapsed, stepped_down) = time_of_two(2);
    assert_eq!(elapsed, Nanos(4 * part.0), "eight parts, two at a time");
    assert!(stepped_down[0].contains("of 8 parts of requests to an array 2 at a time"), "{stepped_down:?}");
}

#[test]
fn arrays_of_arrays() {
    let (mut inner, devices, _) = in_memory(32);
    let left = inner.raid0(&ids(&devices[..2]), CHUNK).unwrap();
    let right = inner.raid0(&ids(&devices[2..]), CHUNK).unwrap();
    let mut outer = Arrays::new(Box::new(inner));
    let device = outer.raid10(&[left.id, right.id], 3 * CHUNK).unwrap();
    check(&mut outer, &device, 44);
}

fn run(io: &mut dyn Io, device: DeviceId, operation: Operation) -> Completion {
    io.submit(device, Request { token: 9, operation }).unwrap();
    let mut completions = Vec::new();
    io.reap(Wait::until_completed(1), &mut completions);
    completions.pop().unwrap()
}

fn write(io: &mut dyn Io, device: DeviceId, offset_bytes: u64, bytes: &[u8]) -> Completion {
    let mut buffer = Arena::new(bytes.len()).unwrap().allocate(bytes.len()).unwrap();
    buffer.copy_from_slice(bytes);
    run(io, device, Operation::write(offset_bytes, buffer.freeze()))
}

fn read(io: &mut dyn Io, device: DeviceId, offset_bytes: u64, bytes: usize) -> Result<Vec<u8>, Cause> {
    let buffer = Arena::new(bytes).unwrap().allocate(bytes).unwrap();
    let completion = run(io, device, Operation::read(offset_bytes, buffer));
    let buffer = completion.operation.into_read_buffer().unwrap();
    completion.result.map(|()| buffer.to_vec()).map_err(|error| error.cause)
}

/// Six chunks, each filled with its number from 1 on.
fn six_chunks() -> Vec<u8> {
    (1..=6).flat_map(|number| [number; CHUNK_LENGTH]).collect()
}

/// First byte of each of a device's first chunks.
fn chunks_of(io: &mut dyn Io, device: &Device, count: u64) -> Vec<u8> {
    (0..count).map(|chunk| read(io, device.id, chunk * CHUNK, CHUNK_LENGTH).unwrap()[0]).collect()
}

#[test]
fn bytes_lie_where_the_layout_says() {
    let (mut arrays, devices, _) = in_memory(8);
    let striped = arrays.raid0(&ids(&devices), CHUNK).unwrap();
    assert_eq!(write(&mut arrays, striped.id, 0, &six_chunks()).result, Ok(()));
    let found: Vec<_> = devices.iter().map(|device| chunks_of(&mut arrays, device, 2)).collect();
    assert_eq!(found, [[1, 5], [2, 6], [3, 0], [4, 0]]);

    let (mut arrays, devices, _) = in_memory(8);
    let mirrored = arrays.raid10(&ids(&devices), CHUNK).unwrap();
    assert_eq!(write(&mut arrays, mirrored.id, 0, &six_chunks()).result, Ok(()));
    let found: Vec<_> = devices.iter().map(|device| chunks_of(&mut arrays, device, 3)).collect();
    assert_eq!(found, [[1, 3, 5], [1, 3, 5], [2, 4, 6], [2, 4, 6]]);
}

#[test]
fn a_read_that_fails_is_tried_on_the_other_leg() {
    let (mut arrays, devices, faults) = in_memory(8);
    let mirrored = arrays.raid10(&ids(&devices), CHUNK).unwrap();
    write(&mut arrays, mirrored.id, 0, &six_chunks());
    let broken = Cause::System(5);
    for leg in [0, 1] {
        faults.fail_next(devices[leg].id, "read", broken.clone());
    }
    // Either leg of the first chunk fails: the other one serves the read, or both fail.
    assert_eq!(read(&mut arrays, mirrored.id, 0, 512), Err(broken.clone()));
    assert_eq!(arrays.read_retries(mirrored.id), 1);
    faults.fail_next(devices[0].id, "read", broken);
    for _ in 0..4 {
        let both_columns = read(&mut arrays, mirrored.id, 0, 6 * CHUNK_LENGTH);
        assert_eq!(both_columns, Ok(six_chunks()));
    }
    assert_eq!(arrays.read_retries(mirrored.id), 2);
}

#[test]
fn a_write_fails_when_a_leg_does() {
    let (mut arrays, devices, faults) = in_memory(8);
    let mirrored = arrays.raid10(&ids(&devices), CHUNK).unwrap();
    faults.fail_next(devices[3].id, "write", Cause::System(28));
    let error = write(&mut arrays, mirrored.id, 0, &six_chunks()).result.unwrap_err();
    assert_eq!((error.operation, error.offset_bytes, error.length_bytes), ("write", 0, 6 * CHUNK));
    assert_eq!(error.cause, Cause::System(28));
    assert_eq!(write(&mut arrays, mirrored.id, 0, &six_chunks()).result, Ok(()), "and works again after it");
}

#[test]
fn a_failed_flush_latches_its_array() {
    for failing in ["flush", "durable write"] {
        let (mut arrays, devices, faults) = in_memory(8);
        let (left, right) = (ids(&devices[..2]), ids(&devices[2..]));
        let (array, other) = (arrays.raid10(&left, CHUNK).unwrap(), arrays.raid0(&right, CHUNK).unwrap());
        write(&mut arrays, array.id, 0, &six_chunks());
        faults.fail_next(devices[1].id, failing, Cause::System(5));
        let block = Arena::new(512).unwrap().allocate(512).unwrap().freeze();
        let operation = || match failing {
            "flush" => Operation::Flush,
            _ => Operation::durable_write(0, block.clone()),
        };
        let first = run(&mut arrays, array.id, operation());
        assert_eq!(first.result.unwrap_err().cause, Cause::System(5));
        let discard = Operation::Discard { offset_bytes: 0, length_bytes: CHUNK };
        for refused in [Operation::Flush, Operation::write(0, block.clone()), operation(), discard] {
            assert_eq!(run(&mut arrays, array.id, refused).result.unwrap_err().cause, Cause::Latched);
        }
        assert!(read(&mut arrays, array.id, CHUNK, 512).is_ok(), "reads go on");
        assert_eq!(run(&mut arrays, other.id, Operation::Flush).result, Ok(()), "other arrays go on");
    }
}

#[test]
fn resynchronising_makes_the_legs_the_same() {
    for (newest, expected) in [(Leg::First, [1, 3, 5]), (Leg::Second, [1, 77, 5])] {
        let (mut arrays, devices, faults) = in_memory(8);
        let mirrored = arrays.raid10(&ids(&devices[..2]), CHUNK).unwrap();
        let chunks: Vec<u8> = [1, 3, 5].into_iter().flat_map(|number| [number; CHUNK_LENGTH]).collect();
        write(&mut arrays, mirrored.id, 0, &chunks);
        // A possible result of a power cut: the legs differ.
        write(&mut arrays, devices[1].id, CHUNK, &[77; CHUNK_LENGTH]);
        faults.fail_next(devices[0].id, "read", Cause::System(5));
        faults.fail_next(devices[1].id, "read", Cause::System(5));
        assert!(matches!(arrays.resynchronise(mirrored.id, newest), Err(ArrayError::Io(_))));
        let _ = read(&mut arrays, devices[0].id, 0, 512);
        let _ = read(&mut arrays, devices[1].id, 0, 512);
        assert_eq!(arrays.resynchronise(mirrored.id, newest), Ok(()));
        for device in &devices[..2] {
            assert_eq!(chunks_of(&mut arrays, device, 3), expected);
        }
    }
}

#[test]
fn what_can_be_no_array() {
    let (mut arrays, devices, _) = in_memory(8);
    let all = ids(&devices);
    let stranger = DeviceId::from_index(4);
    assert!(matches!(arrays.raid0(&[], CHUNK), Err(ArrayError::Children { count: 0, .. })));
    assert!(matches!(arrays.raid10(&all[..3], CHUNK), Err(ArrayError::Children { count: 3, .. })));
    assert_eq!(arrays.raid0(&[all[0], stranger], CHUNK), Err(ArrayError::UnknownChild { index: 4 }));
    assert_eq!(arrays.raid0(&[all[2], all[2]], CHUNK), Err(ArrayError::SameChild { index: 2 }));
    for chunk_bytes in [0, 511, 700] {
        let error = ArrayError::Chunk { chunk_bytes, needed_bytes: 512 };
        assert_eq!(arrays.raid0(&all, chunk_bytes), Err(error));
    }
    assert!(matches!(arrays.raid0(&all, 2 << 20), Err(ArrayError::TooSmall { .. })));
    let striped = arrays.raid0(&all, CHUNK).unwrap();
    let no_mirror = arrays.resynchronise(striped.id, Leg::First);
    assert_eq!(no_mirror, Err(ArrayError::NoMirror { index: striped.id.index() }));
    let mirrored = arrays.raid10(&all, CHUNK).unwrap();
    arrays.submit(striped.id, Request { token: 0, operation: Operation::Flush }).unwrap();
    let busy = arrays.resynchronise(mirrored.id, Leg::First);
    assert_eq!(busy, Err(ArrayError::Busy { in_flight: 1 }));
}
