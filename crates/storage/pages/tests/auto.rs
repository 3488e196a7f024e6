//! `auto` with a staging area that never empties, and during changes of its way.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

mod common;

use std::rc::Rc;

use common::{DEVICE, batch, create_options, memory_world, open_options, read, run};
use nandle_pages::{Batch, Experiments, OpenOptions, PageNumber, PolicyKind, Stats, Store};

const CLIENTS: u64 = 16;
const COMMITS: u64 = 200;

/// Runs clients whose batches each have a page of the client's own, which is in all its batches,
/// and a page shared by all. The staging area has room for all. Returns the statistics.
fn hot_pages(turn_pages: u64) -> Stats {
    run(memory_world(), async |handle| {
        let options = OpenOptions {
            experiments: Experiments { turn_pages: Some(turn_pages), ..Experiments::default() },
            ..open_options()
        };
        let create = create_options(PolicyKind::Auto).with_buffer_bytes(256 * 4096);
        let store = Rc::new(Store::create(&handle, DEVICE, &create, options).await.unwrap());
        let clients: Vec<_> = (0..CLIENTS)
            .map(|client| {
                let store = Rc::clone(&store);
                handle.spawn(async move {
                    for version in 1..=COMMITS {
                        let cold = CLIENTS + (version * CLIENTS + client) % (64 - CLIENTS);
                        store.commit(batch(&store, &[client, cold], version)).await.unwrap();
                    }
                })
            })
            .collect();
        for client in clients {
            client.await;
        }
        for client in 0..CLIENTS {
            assert_eq!(read(&store, client).await, Some(COMMITS));
        }
        store.stats()
    })
}

#[test]
fn pages_that_are_always_staged_dont_keep_it_from_changing() {
    let stats = hot_pages(200);
    // While the staging area is emptied, up to its capacity in pages may arrive.
    let changes = 2 * CLIENTS * COMMITS * 2 / (200 + 256 + 200);
    assert!(stats.auto.unwrap().changes + 2 >= changes, "{changes} expected: {stats:?}");
}

/// Once the staging area is empty, constantly written pages are written directly too.
#[test]
fn pages_that_are_always_staged_go_straight_in_their_turn() {
    let stats = hot_pages(800);
    assert!(stats.pages_straight > stats.pages_written / 3, "{stats:?}");
}

/// A page is discarded during its destage, and written directly as soon as the way has changed. The
/// destage must not overwrite the direct write.
#[test]
fn what_was_discarded_on_its_way_home_doesnt_overtake_what_goes_straight() {
    for staged in 20..=40 {
        run(memory_world(), async |handle| {
            // Destaging reads pages back one by one.
            let options = OpenOptions { keep_bytes: 0, drain_depth: 4, drain_tasks: 1, ..open_options() };
            let options = OpenOptions {
                experiments: Experiments { turn_pages: Some(staged + 4), ..Experiments::default() },
                ..options
            };
            let create = create_options(PolicyKind::Auto).with_buffer_bytes(64 * 4096);
            let store = Store::create(&handle, DEVICE, &create, options).await.unwrap();
            for page in 0..staged {
                store.commit(batch(&store, &[page], 1)).await.unwrap();
            }
            let late = [staged - 4, staged - 3, staged - 2, staged - 1];
            let mut discards = Batch::new();
            for page in late {
                discards.discard(PageNumber(page));
            }
            store.commit(discards).await.unwrap();
            store.commit(batch(&store, &late, 2)).await.unwrap();
            store.checkpoint().await.unwrap();
            for page in late {
                assert_eq!(read(&store, page).await, Some(2), "page {page} of {staged}");
            }
        });
    }
}
