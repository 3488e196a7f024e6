//! Requests that the store must avoid.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

mod common;

use common::{DEVICE, batch, create_options, memory_world, model_world, open_options, read, run};
use nandle_pages::{CreateOptions, Experiments, OpenOptions, PolicyKind, Stats, Store};

const COMMITS: u64 = 200;
/// Staging policies that destage when room gets short.
const STABLE: [PolicyKind; 2] = [PolicyKind::StableBuffer, PolicyKind::StableRing];

/// Commits two pages at a time through a staging area of 32 blocks. Returns the statistics.
fn commits(policy: PolicyKind, options: OpenOptions) -> Stats {
    run(memory_world(), async |handle| {
        let store = Store::create(&handle, DEVICE, &create_options(policy), options).await.unwrap();
        let before = store.stats();
        for version in 1..=COMMITS {
            let pages = [version * 7 % 64, (version * 13 % 64) ^ 1];
            store.commit(batch(&store, &pages, version)).await.unwrap();
        }
        let mut did = store.stats();
        for page in [COMMITS * 7 % 64, (COMMITS * 13 % 64) ^ 1] {
            assert_eq!(read(&store, page).await, Some(COMMITS), "{policy}");
        }
        did.device_reads -= before.device_reads;
        did.device_flushes -= before.device_flushes;
        did
    })
}

#[test]
fn what_is_in_memory_isnt_read_back() {
    for policy in STABLE {
        let forgetting = OpenOptions { keep_bytes: 0, ..open_options() };
        let (kept, forgotten) = (commits(policy, open_options()), commits(policy, forgetting));
        assert!(kept.pages_destaged > COMMITS && forgotten.pages_destaged > COMMITS, "{policy}: {kept:?}");
        assert_eq!(kept.device_reads, 0, "{policy}");
        assert!(forgotten.device_reads > COMMITS, "{policy}: {forgotten:?}");
    }
}

#[test]
fn a_flush_with_nothing_to_make_durable_isnt_sent() {
    for policy in PolicyKind::ALL {
        run(memory_world(), async |handle| {
            let store =
                Store::create(&handle, DEVICE, &create_options(policy), open_options()).await.unwrap();
            store.commit(batch(&store, &[3, 4], 1)).await.unwrap();
            let before = store.stats().device_flushes;
            store.sync().await.unwrap();
            assert_eq!(store.stats().device_flushes, before, "{policy}");
            store.commit(batch(&store, &[3], 2)).await.unwrap();
            assert!(store.stats().device_flushes > before, "{policy}");
        });
    }
}

/// A flush of this drive takes a quarter of the time of a page write with a flush.
#[test]
fn a_page_that_is_committed_alone_goes_straight_home_in_one_durable_write() {
    let (world, _) = model_world("mtron-16", |media| media);
    run(world, async |handle| {
        let create = create_options(PolicyKind::Direct);
        let store = Store::create(&handle, DEVICE, &create, open_options()).await.unwrap();
        store.commit(batch(&store, &[1, 2], 1)).await.unwrap();
        let (mut flushed_ns, mut durable_ns) = (0, 0);
        for version in 2..50 {
            let began = handle.now();
            store.write(batch(&store, &[version], version)).await.unwrap();
            store.sync().await.unwrap();
            flushed_ns += (handle.now() - began).0;
            let began = handle.now();
            store.commit(batch(&store, &[version], version + 100)).await.unwrap();
            durable_ns += (handle.now() - began).0;
            assert_eq!(read(&store, version).await, Some(version + 100));
        }
        assert!(durable_ns < flushed_ns, "{durable_ns} ns durably, {flushed_ns} ns with a flush");
    });
}

/// Staged pages are also in memory, but only the device's copy survives a power cut.
#[test]
fn verifying_reads_the_device() {
    for policy in STABLE {
        run(memory_world(), async |handle| {
            let store =
                Store::create(&handle, DEVICE, &create_options(policy), open_options()).await.unwrap();
            store.commit(batch(&store, &[3, 4, 5], 1)).await.unwrap();
            let before = store.stats().device_reads;
            assert_eq!(store.verify().await.unwrap(), 3);
            assert_eq!(store.stats().device_reads, before + 3, "{policy}");
        });
    }
}

/// A reclamation waits for the flushes of commits while there is room.
#[test]
fn reclaiming_shares_the_flushes_of_commits() {
    for policy in STABLE {
        run(memory_world(), async |handle| {
            let create = create_options(policy).with_buffer_bytes(512 * 4096);
            let store = Store::create(&handle, DEVICE, &create, open_options()).await.unwrap();
            let before = store.stats().device_flushes;
            for version in 1..=1000 {
                store.commit(batch(&store, &[version % 64, version * 13 % 64], version)).await.unwrap();
            }
            let flushes = store.stats().device_flushes - before;
            assert!(flushes < 1020, "{policy}: {flushes} flushes of 1000 commits");
        });
    }
}

/// A page rewritten while staged is destaged once; without absorption each version is destaged.
#[test]
fn without_absorption_every_version_goes_home() {
    let destaged = |policy, absorb, gather_bytes| {
        run(memory_world(), async |handle| {
            let options = OpenOptions {
                experiments: Experiments { absorb, ..Experiments::default() },
                gather_bytes,
                ..open_options()
            };
            let store = Store::create(&handle, DEVICE, &create_options(policy), options).await.unwrap();
            for version in 1..=40 {
                store.write(batch(&store, &[3, version % 5 + 10], version)).await.unwrap();
                assert_eq!(read(&store, 3).await, Some(version), "{policy}");
            }
            store.checkpoint().await.unwrap();
            for (page, newest) in [(3, 40), (10, 40), (11, 36), (14, 39)] {
                assert_eq!(read(&store, page).await, Some(newest), "{policy}");
            }
            let stats = store.stats();
            (stats.pages_destaged, stats.pages_absorbed)
        })
    };
    for policy in [PolicyKind::DoubleWrite, PolicyKind::StableBuffer, PolicyKind::StableRing] {
        for gather_bytes in [0, 64 << 10] {
            assert_eq!(destaged(policy, false, gather_bytes), (80, 0), "{policy}");
        }
        let (pages, absorbed) = destaged(policy, true, 64 << 10);
        assert!(pages < 80, "{policy}: {pages} went home, absorption on");
        assert!(absorbed > 20, "{policy}: {absorbed}");
    }
}

/// Checksums of home pages cost no flush, and two blocks per reclamation. A reclamation frees at
/// least 1/16 of the area: 32 pages, each written twice.
#[test]
fn checksums_of_home_pages_cost_few_flushes_and_bytes() {
    let did = |policy, home_sums| {
        run(memory_world(), async |handle| {
            let create = CreateOptions { pages: 1000, home_sums, ..create_options(policy) };
            let create = create.with_buffer_bytes(512 * 4096);
            let store = Store::create(&handle, DEVICE, &create, open_options()).await.unwrap();
            let before = store.stats();
            for version in 1..=2000 {
                let pages = [version * 7 % 1000, version * 13 % 1000];
                store.commit(batch(&store, &pages, version)).await.unwrap();
            }
            let stats = store.stats();
            let written_bytes = stats.device_written_bytes - before.device_written_bytes;
            (stats.device_flushes - before.device_flushes, written_bytes)
        })
    };
    for policy in [PolicyKind::DoubleWrite, PolicyKind::StableBuffer, PolicyKind::StableRing] {
        let (flushes, bytes) = did(policy, true);
        let (plain_flushes, plain_bytes) = did(policy, false);
        // The flushes aren't due to the checksums, but their time on the device shifts others.
        assert!(flushes * 100 <= plain_flushes * 102, "{policy}: {flushes} flushes, {plain_flushes} without");
        assert!(bytes * 100 < plain_bytes * 104, "{policy}: {bytes} bytes, {plain_bytes} without");
    }
}
