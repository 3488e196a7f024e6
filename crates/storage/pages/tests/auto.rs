//! `auto` on work during which its staging area is never empty, and in the moments at which it changes its way.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

mod common;

use std::rc::Rc;

use common::{DEVICE, batch, create_options, memory_world, open_options, read, run};
use nandle_pages::{Batch, Experiments, OpenOptions, PageNumber, PolicyKind, Stats, Store};

const CLIENTS: u64 = 16;
const COMMITS: u64 = 200;

/// Each batch has a page of its client's, which is in all of them, and one of all others; there is room for all of them in
/// the staging area. Returns what it cost.
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
    // While the staging area is cleared, as many pages may come as it has room for.
    let changes = 2 * CLIENTS * COMMITS * 2 / (200 + 256 + 200);
    assert!(stats.auto.unwrap().changes + 2 >= changes, "{changes} expected: {stats:?}");
}

/// When the staging area is clear, the pages that are written all the time go straight as well.
#[test]
fn pages_that_are_always_staged_go_straight_in_their_turn() {
    let stats = hot_pages(800);
    assert!(stats.pages_straight > stats.pages_written / 3, "{stats:?}");
}

/// A page is discarded while it is on its way home, and written straight home as soon as the way has changed: what was on its
/// way must not arrive after it.
#[test]
fn what_was_discarded_on_its_way_home_doesnt_overtake_what_goes_straight() {
    for staged in 20..=40 {
        run(memory_world(), async |handle| {
            // What goes home is read back, one page after the other.
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
