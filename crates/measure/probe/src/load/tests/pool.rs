//! Read pool of a real device.

use std::collections::BTreeSet;

use nandle_io::{Arena, Device, Operation};

use super::*;
use crate::load::operations::Operations;
use crate::virtual_world::{FakeWorld, Servers};

const DEPTH: u32 = 4;

fn operations(arena: &Arena, device: &Device) -> Operations {
    Operations::new(reads(1), device, arena, DEPTH).unwrap()
}

/// Memory addresses used by `reads` reads at depth 1.
fn places(operations: &mut Operations, reads: usize) -> Vec<usize> {
    let place = |_| {
        let operation = operations.next().unwrap();
        let buffer = operation.into_read_buffer().unwrap();
        let place = buffer.as_ptr().addr();
        operations.recycle(Operation::read(0, buffer));
        place
    };
    (0..reads).map(place).collect()
}

#[test]
fn reads_go_through_all_of_their_part_before_they_come_back() {
    let device = FakeWorld::new(CAPACITY_BYTES, Servers::new(1, even(100))).device();
    let arena = Arena::new(1 << 20).unwrap();
    let pool = Arena::new(4 << 20).unwrap();
    let mut alone = operations(&arena, &device);
    assert_eq!(places(&mut alone, 64).into_iter().collect::<BTreeSet<_>>().len(), DEPTH as usize);
    let block_bytes = usize::try_from(BLOCK_BYTES).unwrap();
    let mut spread = operations(&arena, &device);
    spread.spread_reads(&pool, 16 * block_bytes).unwrap();
    let all = places(&mut spread, 32);
    assert_eq!(all[..16], all[16..]);
    assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), 16);
    let mut beside = operations(&arena, &device);
    beside.spread_reads(&pool, 16 * block_bytes).unwrap();
    assert!(places(&mut beside, 16).iter().all(|place| !all.contains(place)));
    let mut too_many = operations(&arena, &device);
    assert!(too_many.spread_reads(&pool, 4 << 20).is_err(), "other readers use parts of it");
}

#[test]
fn a_pool_part_that_is_too_small_is_ignored() {
    let device = FakeWorld::new(CAPACITY_BYTES, Servers::new(1, even(100))).device();
    let arena = Arena::new(1 << 20).unwrap();
    let pool = Arena::new(4 << 20).unwrap();
    for part_bytes in [0, 1, 3 * usize::try_from(BLOCK_BYTES).unwrap()] {
        let mut operations = operations(&arena, &device);
        operations.spread_reads(&pool, part_bytes).unwrap();
        assert!(pool.is_unused(), "{part_bytes}");
        assert_eq!(places(&mut operations, 16).into_iter().collect::<BTreeSet<_>>().len(), DEPTH as usize);
    }
}
