use nandle_io::conformance::MemoryWorld;
use nandle_io::runtime::Runtime;
use nandle_io::{Arena, Nanos};

use super::*;

/// Disk on a device in memory with these properties.
fn disk(access: Access, durable_writes: DurableWrites) -> (Runtime, Rc<Disk>) {
    let mut world = MemoryWorld::new(4, Nanos(1));
    let device = world.add_shaped(Shape {
        capacity_bytes: 1 << 20,
        logical_block_bytes: 512,
        memory_alignment_bytes: 512,
        largest_transfer_bytes: 1 << 20,
        access,
        durable_writes,
        writable: true,
        discards: false,
    });
    let runtime = Runtime::new(Box::new(world));
    let disk = Disk::new(&runtime.handle(), device.id, false).unwrap();
    (runtime, disk)
}

fn buffered() -> Access {
    Access::Buffered { reason: "a page cache".into() }
}

#[test]
fn flushes_overlap_only_where_there_is_no_page_cache() {
    for (access, flushes) in [(Access::Direct, 2), (buffered(), 1)] {
        let (_runtime, disk) = disk(access, DurableWrites::OneCommand);
        disk.set_flush_depth(2);
        assert_eq!(disk.writes.flush_depth.get(), flushes);
    }
}

#[test]
fn a_durable_write_that_would_sync_beside_flushes_shares_them() {
    for (access, durable_writes, is_shared) in [
        (Access::Direct, DurableWrites::OneCommand, false),
        (Access::Direct, DurableWrites::Unknown, false),
        (Access::Direct, DurableWrites::WriteThenFlush, true),
        (buffered(), DurableWrites::Unknown, true),
    ] {
        let (runtime, disk) = disk(access, durable_writes);
        let block = Arena::new(BLOCK_BYTES).unwrap().allocate(BLOCK_BYTES).unwrap().freeze();
        let from = [block].into_iter().collect();
        let before = disk.writes.completed.get();
        runtime.block_on(disk.send("testing", 0, from, Durability::Durable)).unwrap();
        assert_eq!(disk.writes.completed.get() > before, is_shared);
        assert_eq!(disk.is_all_durable(), is_shared, "its flush covers what was before");
        assert_eq!(disk.counts().device_flushes, 1);
    }
}

#[test]
fn a_new_length_is_flushed_although_every_write_is_durable() {
    let (runtime, disk) = disk(Access::Direct, DurableWrites::OneCommand);
    runtime.block_on(disk.flush()).unwrap();
    runtime.block_on(disk.flush()).unwrap();
    assert_eq!(disk.counts().device_flushes, 1);
    runtime.block_on(disk.flush_length()).unwrap();
    assert_eq!(disk.counts().device_flushes, 2);
}
