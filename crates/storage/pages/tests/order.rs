//! Concurrent calls take effect in order.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::needless_for_each,
    reason = "helpers of tests are part of them"
)]

mod common;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use common::{DEVICE, PAGE_BYTES, batch, create_options, model_world, open_options, read, run};
use nandle_io::conformance::MemoryWorld;
use nandle_io::{Arena, Nanos};
use nandle_pages::{OpenOptions, PolicyKind, Store};

const CLIENTS: u64 = 12;
const WRITES: u64 = 60;
/// Few pages, so that each has several calls in progress.
const HOT_PAGES: u64 = 3;

/// Clients rewrite the same few pages as fast as possible, and the last call must win.
#[test]
fn the_last_call_wins() {
    for policy in PolicyKind::ALL {
        for (drive, gather_bytes) in [
            ("x25-e-64", 0),
            ("mtron-16", 0),
            ("nvme-plp", 0),
            ("x25-e-64", 12 << 10),
            ("nvme-plp", 12 << 10),
        ] {
            let (world, _) = model_world(drive, |media| media);
            let options = OpenOptions { gather_bytes, ..open_options() };
            run(world, async |handle| {
                let store = Store::create(&handle, DEVICE, &create_options(policy), options).await.unwrap();
                let store = Rc::new(store);
                let versions = Rc::new(Cell::new(0));
                let newest = Rc::new(RefCell::new([0; HOT_PAGES as usize]));
                let clients: Vec<_> = (0..CLIENTS)
                    .map(|client| {
                        let (store, versions, newest) =
                            (Rc::clone(&store), Rc::clone(&versions), Rc::clone(&newest));
                        handle.spawn(async move {
                            for write in 0..WRITES {
                                let page = (client * 7 + write * write) % HOT_PAGES;
                                versions.set(versions.get() + 1);
                                newest.borrow_mut()[page as usize] = versions.get();
                                store.write(batch(&store, &[page], versions.get())).await.unwrap();
                                if (client + write) % 5 == 0 {
                                    store.sync().await.unwrap();
                                }
                            }
                        })
                    })
                    .collect();
                for client in clients {
                    client.await;
                }
                for page in 0..HOT_PAGES {
                    let expected = newest.borrow()[page as usize];
                    assert_eq!(read(&store, page).await, Some(expected), "{policy} on {drive}, page {page}");
                }
            });
        }
    }
}

/// A write arrives at the moment in which a page is released that an earlier write waits for.
#[test]
fn no_call_overtakes_a_write_that_waits_for_its_page() {
    let mut world = MemoryWorld::new(64, Nanos::from_micros(20));
    world.add(8 << 20, 512);
    run(Box::new(world), async |handle| {
        let create = create_options(PolicyKind::Direct);
        let store = Rc::new(Store::create(&handle, DEVICE, &create, open_options()).await.unwrap());
        let arena = Arena::new(2 * PAGE_BYTES).unwrap();
        let device = handle.device(DEVICE);
        // The world delivers one completion when its time comes, and the others of that time at the
        // next poll.
        let _first_of_that_time = device.read(0, arena.allocate(PAGE_BYTES).unwrap());
        let moment = device.read(0, arena.allocate(PAGE_BYTES).unwrap());
        let writing = |version| {
            let store = Rc::clone(&store);
            handle.spawn(async move { store.write(batch(&store, &[5], version)).await.unwrap() })
        };
        let (first, second) = (writing(1), writing(2));
        moment.await.1.unwrap();
        let third = store.write(batch(&store, &[5], 3));
        third.await.unwrap();
        first.await;
        second.await;
        assert_eq!(read(&store, 5).await, Some(3));
    });
}

/// A batch that waits for room isn't overtaken by a smaller batch.
#[test]
fn no_call_overtakes_a_batch_that_waits_for_room() {
    for policy in PolicyKind::ALL {
        run(common::memory_world(), async |handle| {
            let options = OpenOptions { gather_bytes: 3 * PAGE_BYTES, ..open_options() };
            let store =
                Rc::new(Store::create(&handle, DEVICE, &create_options(policy), options).await.unwrap());
            let writing = |pages: &'static [u64], version| {
                let store = Rc::clone(&store);
                handle.spawn(async move { store.write(batch(&store, pages, version)).await.unwrap() })
            };
            for version in (1..100).step_by(5) {
                let calls = [
                    writing(&[10, 11], version),
                    writing(&[5, 6, 7, 8], version + 1),
                    writing(&[5], version + 2),
                    writing(&[6, 7], version + 3),
                ];
                for call in calls {
                    call.await;
                }
                let expected = [(5, 2), (6, 3), (7, 3), (8, 1), (10, 0)];
                for (page, later) in expected {
                    assert_eq!(read(&store, page).await, Some(version + later), "{policy}, page {page}");
                }
            }
        });
    }
}
