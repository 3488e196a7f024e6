//! Devices for stores, and distinguishable contents.
#![allow(
    dead_code,
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::needless_for_each,
    reason = "each test uses a part of it"
)]

use std::future::Future;
use std::path::Path;
use std::sync::Arc;

use nandle_io::conformance::MemoryWorld;
use nandle_io::runtime::{Handle, Runtime};
use nandle_io::{Access, DeviceFile, DeviceId, DurableWrites, FileOptions, Io, Nanos, Shape, Threads, Uring};
use nandle_model::library::Model;
use nandle_model::media::{Media, MediaWorld, SharedMedia};
use nandle_model::world::{Host, ModelWorld};
use nandle_pages::{Batch, CreateOptions, OpenOptions, PageNumber, PolicyKind, Store};

pub(crate) const DEVICE: DeviceId = DeviceId::from_index(0);
pub(crate) const PAGE_BYTES: usize = 4096;

/// Offsets of the labels, at the starts of a small store's slots.
pub(crate) fn label_places() -> impl Iterator<Item = u64> {
    (0..8).map(|slot| slot * (64 << 10))
}

/// Options with little memory and no gathering.
pub(crate) fn open_options() -> OpenOptions {
    OpenOptions { memory_bytes: 1 << 20, gather_bytes: 0, ..OpenOptions::default() }
}

/// Options of a small store with adjacent parts.
pub(crate) fn create_options(policy: PolicyKind) -> CreateOptions {
    CreateOptions {
        alignment_bytes: PAGE_BYTES as u64,
        buffer_bytes: 32 * PAGE_BYTES as u64,
        ..CreateOptions::new(policy, PAGE_BYTES, 64)
    }
}

/// A world in memory.
pub(crate) fn memory_world() -> Box<dyn Io> {
    let mut world = MemoryWorld::new(64, Nanos::from_micros(20));
    world.add(8 << 20, 512);
    Box::new(world)
}

/// Shape of a device without a page cache.
pub(crate) fn direct_shape(capacity_bytes: u64) -> Shape {
    Shape {
        capacity_bytes,
        logical_block_bytes: 512,
        memory_alignment_bytes: 512,
        largest_transfer_bytes: 1 << 20,
        access: Access::Direct,
        durable_writes: DurableWrites::OneCommand,
        writable: true,
        discards: true,
    }
}

/// A world in memory whose device limits the length of requests.
pub(crate) fn short_world(largest_transfer_bytes: u64) -> Box<dyn Io> {
    let mut world = MemoryWorld::new(64, Nanos::from_micros(20));
    world.add_shaped(Shape { largest_transfer_bytes, ..direct_shape(32 << 20) });
    Box::new(world)
}

/// A modelled drive with its media, and a handle to them.
pub(crate) fn model_world(name: &str, media: impl FnOnce(Media) -> Media) -> (Box<dyn Io>, SharedMedia) {
    let mut timing = ModelWorld::new(Host::with_slots(64));
    let device = timing.add(Model::named(name).unwrap().device().unwrap());
    let mut world = MediaWorld::new(timing);
    let shared = world.attach(device.id, media(Media::of_shape(&device.shape))).unwrap();
    (Box::new(world), shared)
}

/// A modelled drive with existing media.
pub(crate) fn world_on(name: &str, media: Media) -> (Box<dyn Io>, SharedMedia) {
    model_world(name, |_| media)
}

/// Real disk through each available real world.
pub(crate) fn real_worlds() -> Vec<Box<dyn Io>> {
    let file = || {
        let file = tempfile::tempfile_in(Path::new(env!("CARGO_TARGET_TMPDIR"))).unwrap();
        file.set_len(8 << 20).unwrap();
        Arc::new(DeviceFile::new(file, FileOptions::default()).unwrap())
    };
    let mut threads = Threads::new(64);
    threads.add(file());
    let mut worlds: Vec<Box<dyn Io>> = vec![Box::new(threads)];
    if let Ok(mut ring) = Uring::new(64) {
        ring.add(file());
        worlds.push(Box::new(ring));
    }
    worlds
}

/// All kinds of worlds: in memory, modelled, real.
pub(crate) fn worlds() -> Vec<Box<dyn Io>> {
    let mut worlds = vec![memory_world(), model_world("x25-e-64", |media| media).0];
    worlds.extend(real_worlds());
    worlds
}

pub(crate) fn run<F: Future>(world: Box<dyn Io>, test: impl FnOnce(Handle) -> F) -> F::Output {
    let runtime = Runtime::new(world);
    runtime.block_on(test(runtime.handle()))
}

/// A batch that fills each page with its number and a version.
pub(crate) fn batch(store: &Store, pages: &[u64], version: u64) -> Batch {
    let mut batch = Batch::new();
    for &page in pages {
        let mut buffer = store.buffer().unwrap();
        fill(&mut buffer, page, version);
        batch.put(PageNumber(page), buffer.freeze());
    }
    batch
}

pub(crate) fn fill(buffer: &mut [u8], page: u64, version: u64) {
    let word = page << 32 | version;
    buffer.chunks_mut(8).for_each(|chunk| chunk.copy_from_slice(&word.to_le_bytes()));
}

/// Version in a page; `None` if it is torn, misplaced, or was never written.
pub(crate) fn version_in(contents: &[u8], page: u64) -> Option<u64> {
    let word = u64::from_le_bytes(contents[..8].try_into().unwrap());
    let whole = contents.chunks(8).all(|chunk| chunk == word.to_le_bytes());
    (whole && word >> 32 == page && word != 0).then_some(word & u64::from(u32::MAX))
}

pub(crate) async fn read(store: &Store, page: u64) -> Option<u64> {
    version_in(&store.read(PageNumber(page)).await.unwrap(), page)
}
