//! Behaviour specific to the out-of-place policy.

mod common;

use std::rc::Rc;

use common::{DEVICE, batch, create_options, open_options, read, run};
use nandle_model::media::Media;
use nandle_pages::{Batch, CreateOptions, OpenOptions, PageNumber, PolicyKind, Store};
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Writes the area many times over with little free space. Cleaning moves live pages, and nothing
/// is lost, also across openings.
#[test]
fn cleaning_goes_on_for_ever_and_loses_nothing() {
    for (world, _) in ["x25-e-64", "nvme-tlc"].map(|name| common::model_world(name, |media| media)) {
        run(world, async |handle| {
            let create = create_options(PolicyKind::OutOfPlace);
            drop(Store::create(&handle, DEVICE, &create, open_options()).await.unwrap());
            let mut newest = [0; 64];
            let mut moved = 0;
            for round in 0..20_u64 {
                let store = Store::open(&handle, DEVICE, open_options()).await.unwrap();
                for step in 1..=150 {
                    let version = round * 150 + step;
                    // Half of the writes go to a few pages.
                    let pages = [version * 37 % 64, version * 11 % 5];
                    store.commit(batch(&store, &pages, version)).await.unwrap();
                    for page in &pages {
                        newest[usize::try_from(*page).unwrap()] = version;
                    }
                }
                moved += store.stats().pages_cleaned;
                for (page, version) in newest.iter().enumerate().filter(|(_, version)| **version > 0) {
                    assert_eq!(read(&store, page as u64).await, Some(*version), "round {round}, page {page}");
                }
                store.verify().await.unwrap();
            }
            assert!(moved > 100, "cleaning was hardly needed: {moved}");
        });
    }
}

/// With much spare space several zones are reserved for renewals, which permits more volatile data.
/// A zone has room for six pages here, each in an extent of its own lifetime group.
#[test]
fn spare_space_saves_flushes() {
    run(common::memory_world(), async |handle| {
        let create = create_options(PolicyKind::OutOfPlace);
        let create = CreateOptions { spare_percent: 2400, alignment_bytes: 24 * 4096, ..create };
        let options = OpenOptions { gather_bytes: 0, memory_bytes: 1 << 20, ..open_options() };
        let store = Store::create(&handle, DEVICE, &create, options).await.unwrap();
        let before = store.stats().device_flushes;
        for version in 1..=200 {
            store.write(batch(&store, &[version * 7 % 64], version)).await.unwrap();
        }
        let flushes = store.stats().device_flushes - before;
        assert!(0 < flushes && flushes < 200 / 6, "{flushes} flushes of 200 pages");
    });
}

/// All pages are live in the smallest possible space.
#[test]
fn a_store_that_is_full_can_be_written_on() {
    run(common::memory_world(), async |handle| {
        let create = CreateOptions { spare_percent: 0, ..create_options(PolicyKind::OutOfPlace) };
        let store = Store::create(&handle, DEVICE, &create, open_options()).await.unwrap();
        for version in 1..=40 {
            for page in 0..64 {
                store.write(batch(&store, &[page], version)).await.unwrap();
            }
        }
        store.sync().await.unwrap();
        for page in 0..64 {
            assert_eq!(read(&store, page).await, Some(40), "page {page}");
        }
    });
}

#[test]
fn discarded_pages_stay_discarded_through_cleaning_and_opening() {
    run(common::memory_world(), async |handle| {
        let create = create_options(PolicyKind::OutOfPlace);
        let store = Store::create(&handle, DEVICE, &create, open_options()).await.unwrap();
        store.commit(batch(&store, &[9, 10], 1)).await.unwrap();
        let mut discard = Batch::new();
        discard.discard(PageNumber(9));
        store.commit(discard).await.unwrap();
        for version in 1..=300 {
            store.commit(batch(&store, &[version % 7, 20 + version % 30], version)).await.unwrap();
        }
        drop(store);
        let store = Store::open(&handle, DEVICE, open_options()).await.unwrap();
        assert!(store.read(PageNumber(9)).await.unwrap().iter().all(|byte| *byte == 0));
        assert_eq!(read(&store, 10).await, Some(1));
    });
}

/// Damage among acknowledged extents is detected if a later header proves that they were durable.
#[test]
fn a_damaged_header_of_a_durable_extent_is_named() {
    let (world, media) = common::model_world("x25-e-64", |media| media);
    run(world, async |handle| {
        let create = create_options(PolicyKind::OutOfPlace);
        let store = Store::create(&handle, DEVICE, &create, open_options()).await.unwrap();
        for version in 1..=3 {
            store.commit(batch(&store, &[1], version)).await.unwrap();
        }
    });
    // The slots take 128 blocks. The first version is alone in a zone of 17 blocks for pages
    // written once; the second begins the next zone.
    let mut contents = media.borrow().contents().clone();
    (0..8).for_each(|block| contents.damage((128 + 17) * 8 + block, 3));
    let (world, _) = common::world_on("x25-e-64", Media::on(contents));
    run(world, async |handle| {
        let opened = Store::open(&handle, DEVICE, open_options()).await;
        assert!(matches!(opened, Err(nandle_pages::PageError::Corrupt { .. })), "{opened:?}");
    });
}

fn noise(into: &mut [u8], seed: u64) {
    Xoshiro256PlusPlus::seed_from_u64(seed).fill_bytes(into);
}

/// Pages of 16 KiB with zeros, noise or a mixture; compressed by one opening and not by the next,
/// and cleaned by both.
#[test]
fn what_one_opening_compressed_another_reads_and_moves() {
    const LENGTH: usize = 16 << 10;
    let contents = |page: u64, version: u64| -> Vec<u8> {
        let mut bytes = vec![0; LENGTH];
        let noise_bytes = usize::try_from((page * 7 + version) % 5).unwrap() * LENGTH / 4;
        noise(&mut bytes[..noise_bytes], page << 32 | version);
        bytes[..8].copy_from_slice(&version.to_le_bytes());
        bytes
    };
    run(common::memory_world(), async |handle| {
        let create = CreateOptions {
            alignment_bytes: LENGTH as u64,
            spare_percent: 5,
            ..CreateOptions::new(PolicyKind::OutOfPlace, LENGTH, 64)
        };
        drop(Store::create(&handle, DEVICE, &create, open_options()).await.unwrap());
        let mut newest = [0; 64];
        let (mut version, mut moved) = (0, 0);
        for round in 0..8 {
            let options = OpenOptions { compress: round % 2 == 0, ..open_options() };
            let store = Store::open(&handle, DEVICE, options).await.unwrap();
            for step in 0..200_u64 {
                version += 1;
                let mut batch = Batch::new();
                for page in [step * 37 % 64, step * 11 % 5] {
                    let mut buffer = store.buffer().unwrap();
                    buffer.copy_from_slice(&contents(page, version));
                    batch.put(PageNumber(page), buffer.freeze());
                    newest[usize::try_from(page).unwrap()] = version;
                }
                store.commit(batch).await.unwrap();
            }
            for (page, version) in (0..64).zip(newest).filter(|(_, version)| *version > 0) {
                let read = store.read(PageNumber(page)).await.unwrap();
                assert!(read[..] == contents(page, version), "round {round}, page {page}");
            }
            store.verify().await.unwrap();
            moved += store.stats().pages_cleaned;
        }
        assert!(moved > 100, "cleaning was hardly needed: {moved}");
    });
}

/// A compressible page takes less space on the device, and damage to it is detected.
#[test]
fn compressed_pages_are_short_and_checked() {
    let (world, media) = common::model_world("x25-e-64", |media| media);
    let written = |compress: bool| {
        let (world, _) = common::model_world("x25-e-64", |media| media);
        common::run(world, async |handle| {
            let options = OpenOptions { compress, ..open_options() };
            let create = create_options(PolicyKind::OutOfPlace);
            let store = Store::create(&handle, DEVICE, &create, options).await.unwrap();
            let before = store.stats().device_written_bytes;
            store.commit(batch(&store, &(0..8).collect::<Vec<_>>(), 1)).await.unwrap();
            store.stats().device_written_bytes - before
        })
    };
    assert_eq!((written(false), written(true)), (9 * 4096, 2 * 4096));
    run(world, async |handle| {
        let create = create_options(PolicyKind::OutOfPlace);
        let store = Store::create(&handle, DEVICE, &create, open_options()).await.unwrap();
        let mut page = store.buffer().unwrap();
        page.fill(0);
        noise(&mut page[..2000], 1);
        let mut first = Batch::new();
        first.put(PageNumber(5), page.freeze());
        store.commit(first).await.unwrap();
        store.commit(batch(&store, &[6], 1)).await.unwrap();
    });
    let mut contents = media.borrow().contents().clone();
    // The header of the first extent is block 128, its only page block 129.
    contents.damage(129 * 8, 3);
    let (world, _) = common::world_on("x25-e-64", Media::on(contents));
    run(world, async |handle| {
        // A later extent proves that it was durable, so it counts.
        let store = Store::open(&handle, DEVICE, open_options()).await.unwrap();
        assert_eq!(read(&store, 6).await, Some(1));
        let damaged = store.read(PageNumber(5)).await;
        assert!(matches!(damaged, Err(nandle_pages::PageError::Damaged { .. })), "{damaged:?}");
    });
}

/// Sixteen tasks that commit single pages of noise share extents, and thus headers.
#[test]
fn commits_of_many_tasks_share_extents() {
    const TASKS: u64 = 16;
    const COMMITS: u64 = 100;
    run(common::memory_world(), async |handle| {
        let create = CreateOptions {
            spare_percent: 300,
            alignment_bytes: 64 * 4096,
            ..create_options(PolicyKind::OutOfPlace)
        };
        let options = OpenOptions { gather_bytes: 128 << 10, ..open_options() };
        let store = Rc::new(Store::create(&handle, DEVICE, &create, options).await.unwrap());
        let before = store.stats().device_written_bytes;
        let tasks = (0..TASKS).map(|task| {
            let store = Rc::clone(&store);
            handle.spawn(async move {
                for number in 0..COMMITS {
                    let mut page = store.buffer().unwrap();
                    noise(&mut page, task << 32 | number);
                    let mut batch = Batch::new();
                    batch.put(PageNumber((task * 7 + number * 13) % 64), page.freeze());
                    store.commit(batch).await.unwrap();
                }
            })
        });
        for task in tasks.collect::<Vec<_>>() {
            task.await;
        }
        let written = store.stats().device_written_bytes - before;
        let ratio = written as f64 / (TASKS * COMMITS * 4096) as f64;
        println!("{ratio:.2} bytes at the device by byte committed");
        assert!(ratio <= 1.3, "{ratio:.2} bytes at the device by byte committed");
    });
}
