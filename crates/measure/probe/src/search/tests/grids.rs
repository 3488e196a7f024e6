use nandle_io::{Access, Arena, DurableWrites, Shape};

use super::super::*;

fn shape(logical_block_bytes: u64, largest_transfer_bytes: u64) -> Shape {
    Shape {
        capacity_bytes: 1 << 40,
        logical_block_bytes,
        memory_alignment_bytes: 512,
        largest_transfer_bytes,
        access: Access::Direct,
        durable_writes: DurableWrites::Unknown,
        writable: false,
        discards: false,
    }
}

#[test]
fn the_grid_keeps_to_the_device_the_file_and_the_memory() {
    let grid = Grid::new(&shape(512, 1 << 30), 4 << 30, 256, 64 << 20);
    assert_eq!((grid.block_sizes.first(), grid.block_sizes.last()), (Some(&2048), Some(&(4 << 20))));
    assert_eq!((grid.queue_depths.first(), grid.queue_depths.last()), (Some(&1), Some(&256)));
    assert_eq!(grid.depths_of(4 << 20).last(), Some(16));
    let cells = grid.random_cells().count();
    assert_eq!(cells + grid.skipped().len(), grid.block_sizes.len() * grid.queue_depths.len());
    assert_eq!(Grid::new(&shape(4096, 1 << 30), 4 << 30, 256, 1 << 26).block_sizes[0], 4096);
    assert_eq!(Grid::new(&shape(512, 1 << 20), 4 << 30, 256, 1 << 26).block_sizes.last(), Some(&(1 << 20)));
    assert_eq!(Grid::new(&shape(512, 1 << 30), 4 << 30, 100, 1 << 26).queue_depths.last(), Some(&64));
    assert_eq!(Grid::new(&shape(512, 1 << 30), 100 << 10, 256, 1 << 26).block_sizes, [2048, 4096, 8192]);
    assert!(Grid::new(&shape(512, 1 << 30), 8 << 10, 256, 1 << 26).block_sizes.is_empty());
}

#[test]
fn the_memory_of_the_grid_is_enough_for_each_of_its_cells() {
    for area_bytes in [16 << 10, 1 << 20, 4 << 30] {
        let grid = Grid::new(&shape(512, 1 << 30), area_bytes, 256, 64 << 20);
        for key in grid.random_cells() {
            let arena = Arena::new(usize::try_from(grid.buffer_bytes()).unwrap()).unwrap();
            let length = usize::try_from(key.block_bytes).unwrap();
            let buffers: Result<Vec<_>, _> = (0..key.queue_depth).map(|_| arena.allocate(length)).collect();
            assert!(buffers.is_ok(), "{key:?} of {area_bytes}: {buffers:?}");
        }
    }
}
