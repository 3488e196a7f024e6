//! Behaviour of every policy in every kind of world.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::needless_for_each,
    reason = "helpers of tests are part of them"
)]

mod common;

use std::rc::Rc;

use common::{DEVICE, batch, create_options, open_options, read, run, worlds};
use nandle_io::runtime::Handle;
use nandle_pages::{Batch, CreateOptions, OpenOptions, PageError, PageNumber, PolicyKind, Store};

/// Changes far beyond the buffer's length, sequential and random, with rewrites.
fn history() -> impl Iterator<Item = (Vec<u64>, u64)> {
    (1..=120).map(|version: u64| {
        let first = version * 37 % 61;
        let pages = [first, first + 1, version * 11 % 64, version % 3];
        (pages[..=(version % 4) as usize].to_vec(), version)
    })
}

#[test]
fn what_is_written_is_read_also_after_opening_again() {
    for policy in PolicyKind::ALL {
        for gather_bytes in [0, 64 << 10] {
            for world in worlds() {
                run(world, async |handle| {
                    let options = OpenOptions { gather_bytes, ..open_options() };
                    let store =
                        Store::create(&handle, DEVICE, &create_options(policy), options).await.unwrap();
                    let mut newest = [0; 64];
                    for (pages, version) in history() {
                        store.write(batch(&store, &pages, version)).await.unwrap();
                        pages.iter().for_each(|page| newest[*page as usize] = version);
                        assert_eq!(read(&store, pages[0]).await, Some(version), "{policy}");
                    }
                    store.close().await.unwrap();
                    let store = Store::open(&handle, DEVICE, options).await.unwrap();
                    for (page, version) in newest.into_iter().enumerate().filter(|(_, version)| *version > 0)
                    {
                        assert_eq!(read(&store, page as u64).await, Some(version), "{policy}");
                    }
                    store.verify().await.unwrap();
                    store.checkpoint().await.unwrap();
                    assert_eq!(store.stats().staged_pages, 0);
                });
            }
        }
    }
}

/// In virtual time all concurrent commits are in flight before the first one completes. On a busy
/// real device each write may complete after the previous flush.
#[test]
fn commits_of_many_tasks_share_flushes() {
    for policy in PolicyKind::ALL {
        for world in [common::memory_world(), common::model_world("x25-e-64", |media| media).0] {
            let flushes = run(world, async |handle| flushes_of_16_commits(&handle, policy).await);
            assert!((1..=4).contains(&flushes), "{policy}: {flushes} flushes for 16 commits");
        }
        for world in common::real_worlds() {
            let flushes = run(world, async |handle| flushes_of_16_commits(&handle, policy).await);
            assert!((1..=16).contains(&flushes), "{policy}: {flushes} flushes for 16 commits");
        }
    }
}

async fn flushes_of_16_commits(handle: &Handle, policy: PolicyKind) -> u64 {
    // Large enough that no reclamation with its own flushes is needed.
    let create = CreateOptions { buffer_bytes: 1 << 20, ..create_options(policy) };
    let store = Rc::new(Store::create(handle, DEVICE, &create, open_options()).await.unwrap());
    let before = store.stats().device_flushes;
    let tasks: Vec<_> = (0..16)
        .map(|page| {
            let store = Rc::clone(&store);
            handle.spawn(async move { store.commit(batch(&store, &[page], 1)).await })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    store.stats().device_flushes - before
}

#[test]
fn a_page_that_comes_twice_in_a_batch_has_its_last_contents() {
    for policy in PolicyKind::ALL {
        run(common::memory_world(), async |handle| {
            let store =
                Store::create(&handle, DEVICE, &create_options(policy), open_options()).await.unwrap();
            let mut twice = Batch::new();
            for version in [1, 2] {
                let mut page = store.buffer().unwrap();
                common::fill(&mut page, 5, version);
                twice.put(PageNumber(5), page.freeze());
            }
            store.commit(twice).await.unwrap();
            assert_eq!(read(&store, 5).await, Some(2), "{policy}");
        });
    }
}

#[test]
fn bad_input_is_named() {
    run(common::memory_world(), async |handle| {
        let missing = Store::open(&handle, DEVICE, open_options()).await.unwrap_err();
        assert!(matches!(missing, PageError::NotAStore { .. }), "{missing}");
        let wrong = |change: fn(&mut nandle_pages::CreateOptions)| {
            let mut options = create_options(PolicyKind::StableRing);
            change(&mut options);
            options
        };
        let cases = [
            wrong(|options| options.page_bytes = 5000),
            wrong(|options| options.page_bytes = 128 << 10),
            wrong(|options| options.buffer_bytes = 4096),
            wrong(|options| options.pages = 1 << 40),
        ];
        for options in cases {
            let error = Store::create(&handle, DEVICE, &options, open_options()).await.unwrap_err();
            let expected = matches!(
                error,
                PageError::PageSize { .. } | PageError::BufferSize { .. } | PageError::TooSmall { .. }
            );
            assert!(expected, "{error}");
        }
        let options = create_options(PolicyKind::StableRing);
        let store = Store::create(&handle, DEVICE, &options, open_options()).await.unwrap();
        let beyond = store.read(PageNumber(64)).await.unwrap_err();
        assert_eq!(beyond, PageError::BeyondEnd { page: PageNumber(64), pages: 64 });
        let mut short = Batch::new();
        short.put(PageNumber(1), store.buffer().unwrap().freeze().slice(0..100));
        let short = store.write(short).await.unwrap_err();
        assert_eq!(short, PageError::PageLength { page: PageNumber(1), got: 100, expected: 4096 });
        let large = store.write(batch(&store, &[1, 2, 3, 4, 5, 6, 7, 8], 1)).await.unwrap_err();
        assert_eq!(
            large.to_string(),
            "a batch of 8 changes: this store takes at most 7 as a whole; split it, or create the store with larger \
             `buffer_bytes`"
        );
        assert_eq!(store.verify().await, Ok(0), "nothing of these was accepted");
    });
}

/// Pages, groups, home runs and recovery reads longer than the device's maximum request.
#[test]
fn a_device_that_takes_short_requests_only_is_given_short_ones() {
    for policy in PolicyKind::ALL {
        for (page_bytes, largest_transfer_bytes) in [(4096, 4096), (4096, 20_000), (65_536, 16 << 10)] {
            run(common::short_world(largest_transfer_bytes), async |handle| {
                let create = CreateOptions {
                    page_bytes,
                    buffer_bytes: 64 * page_bytes as u64,
                    ..create_options(policy)
                };
                let options = OpenOptions { memory_bytes: 8 << 20, ..open_options() };
                let store = Store::create(&handle, DEVICE, &create, options).await.unwrap();
                for version in 1..=40 {
                    let first = version * 13 % 50;
                    let pages: Vec<_> = (first..first + 8).collect();
                    store.commit(batch(&store, &pages, version)).await.unwrap();
                }
                store.close().await.unwrap();
                let store = Store::open(&handle, DEVICE, options).await.unwrap();
                let newest =
                    |page| (1..=40).rev().find(|version| (0..8).any(|i| version * 13 % 50 + i == page));
                for page in 0..58 {
                    assert_eq!(read(&store, page).await, newest(page), "{policy}, page {page}");
                }
                store.verify().await.unwrap();
                store.checkpoint().await.unwrap();
            });
        }
    }
}
