//! `out-of-place` with every accepted length of zones: random updates with noise until each zone
//! was cleaned several times, then a reopening.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, reason = "tests")]

mod common;

use common::DEVICE;
use nandle_io::Nanos;
use nandle_io::conformance::MemoryWorld;
use nandle_io::runtime::{Handle, Runtime};
use nandle_pages::{Batch, CreateOptions, OpenOptions, PageNumber, PolicyKind, Store};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const PAGES: u64 = 4096;

/// Writes `count` single pages: in order until all are written, then at random.
async fn update(store: &Store, random: &mut Xoshiro256PlusPlus, count: u64) {
    for number in 0..count {
        let page = if number < PAGES { number } else { random.random_range(0..PAGES) };
        let mut contents = store.buffer().unwrap();
        contents.fill(u8::try_from(number % 251).unwrap());
        let mut batch = Batch::new();
        batch.put(PageNumber(page), contents.freeze());
        store.write(batch).await.unwrap();
        if number % 64 == 63 {
            store.sync().await.unwrap();
        }
    }
    store.sync().await.unwrap();
}

async fn live(handle: Handle, create: CreateOptions) {
    let options = OpenOptions { compress: false, ..OpenOptions::default() };
    let store = Store::create(&handle, DEVICE, &create, options).await.unwrap();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    update(&store, &mut random, 4 * PAGES).await;
    store.close().await.unwrap();
    handle.sleep(Nanos::from_millis(500)).await;
    let store = Store::open(&handle, DEVICE, options).await.unwrap();
    update(&store, &mut random, PAGES / 2).await;
    store.close().await.unwrap();
}

#[test]
fn no_length_of_zones_stops_a_store() {
    for (alignment_bytes, spare_percent) in
        [(4096, 15), (64 << 10, 15), (64 << 10, 45), (256 << 10, 15), (256 << 10, 7), (1 << 20, 15)]
    {
        let create = CreateOptions {
            alignment_bytes,
            spare_percent,
            ..CreateOptions::new(PolicyKind::OutOfPlace, 4096, PAGES)
        };
        let mut world = MemoryWorld::new(64, Nanos::from_micros(20));
        world.add(create.device_bytes().unwrap(), 512);
        let runtime = Runtime::new(Box::new(world));
        let handle = runtime.handle();
        runtime.block_on(live(handle, create));
    }
}
