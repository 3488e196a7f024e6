//! Failing, lying and forgetful devices: the store returns an error and stops, and loses nothing
//! acknowledged.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::needless_for_each,
    reason = "helpers of tests are part of them"
)]

mod common;

use common::{
    DEVICE, PAGE_BYTES, batch, create_options, direct_shape, label_places, open_options, read, run,
    version_in,
};
use nandle_io::conformance::MemoryWorld;
use nandle_io::{Cause, Nanos};
use nandle_model::media::{Fault, FaultPlan, FaultRule, Media, When};
use nandle_pages::{BatchNumber, OpenOptions, PageError, PageNumber, PolicyKind, Store};

#[test]
fn a_failed_flush_stops_the_store_until_it_is_opened_again() {
    for policy in PolicyKind::ALL {
        let mut world = MemoryWorld::new(64, Nanos::from_micros(20));
        world.add(4 << 20, 512);
        let faults = world.faults();
        run(Box::new(world), async |handle| {
            let store =
                Store::create(&handle, DEVICE, &create_options(policy), open_options()).await.unwrap();
            store.commit(batch(&store, &[1, 2], 1)).await.unwrap();
            faults.fail_next(DEVICE, "flush", Cause::System(5));
            let failed = store.commit(batch(&store, &[1, 3], 2)).await.unwrap_err();
            assert!(
                matches!(failed, PageError::Device { .. } | PageError::Latched { .. }),
                "{policy}: {failed}"
            );
            let checkpoint = store.checkpoint().await.map(|()| BatchNumber::NONE);
            for later in [store.commit(batch(&store, &[3], 3)).await, store.sync().await, checkpoint] {
                assert!(matches!(later, Err(PageError::Latched { .. })), "{policy}: {later:?}");
            }
            drop(store);
            let store = Store::open(&handle, DEVICE, open_options()).await.unwrap();
            assert_eq!(read(&store, 2).await, Some(1), "{policy}");
            store.commit(batch(&store, &[3], 4)).await.unwrap();
        });
    }
}

#[test]
fn a_store_that_could_not_be_made_is_not_said_to_be_safe() {
    for policy in PolicyKind::ALL {
        let mut world = MemoryWorld::new(64, Nanos::from_micros(20));
        world.add(64 << 20, 512);
        let faults = world.faults();
        run(Box::new(world), async |handle| {
            faults.fail_next(DEVICE, "flush", Cause::System(5));
            let failed =
                Store::create(&handle, DEVICE, &create_options(policy), open_options()).await.unwrap_err();
            assert!(matches!(failed, PageError::Device { .. }), "{policy}: {failed}");
        });
    }
}

/// A failed durable write may or may not have become durable.
#[test]
fn a_failed_durable_write_stops_direct_until_it_is_opened_again() {
    let mut world = MemoryWorld::new(64, Nanos::from_micros(20));
    // With a page cache, durable writes share the store's flushes.
    world.add_shaped(direct_shape(4 << 20));
    let faults = world.faults();
    run(Box::new(world), async |handle| {
        let create = create_options(PolicyKind::Direct);
        let store = Store::create(&handle, DEVICE, &create, open_options()).await.unwrap();
        store.commit(batch(&store, &[1, 2], 1)).await.unwrap();
        faults.fail_next(DEVICE, "durable write", Cause::System(5));
        let failed = store.commit(batch(&store, &[1], 2)).await.unwrap_err();
        assert!(matches!(failed, PageError::Device { .. }), "{failed}");
        for later in [
            store.commit(batch(&store, &[3], 3)).await.map(drop),
            store.write(batch(&store, &[3], 3)).await,
            store.sync().await.map(drop),
            store.checkpoint().await,
        ] {
            assert!(matches!(later, Err(PageError::Latched { .. })), "{later:?}");
        }
        drop(store);
        let store = Store::open(&handle, DEVICE, open_options()).await.unwrap();
        assert_eq!(read(&store, 2).await, Some(1));
        store.commit(batch(&store, &[3], 4)).await.unwrap();
    });
}

/// A background write fails, as on a full thin-provisioned device. The next call receives the
/// error, and nothing is lost.
#[test]
fn a_failed_write_home_stops_the_store_and_loses_nothing() {
    for policy in PolicyKind::ALL.into_iter().filter(|policy| policy.promises().atomic_batch) {
        let mut world = MemoryWorld::new(64, Nanos::from_micros(20));
        world.add(4 << 20, 512);
        let faults = world.faults();
        run(Box::new(world), async |handle| {
            let store =
                Store::create(&handle, DEVICE, &create_options(policy), open_options()).await.unwrap();
            let mut acknowledged = Vec::new();
            let mut stopped = None;
            for page in 0..60 {
                if page == 10 {
                    // Some of the following writes are home writes.
                    faults.fail_next(DEVICE, "write", Cause::System(28));
                }
                match store.commit(batch(&store, &[page], 7)).await {
                    Ok(_) => acknowledged.push(page),
                    Err(error) => {
                        stopped = Some(error);
                        break;
                    }
                }
            }
            assert!(stopped.is_some(), "{policy}: the failure was passed over");
            drop(store);
            let store = Store::open(&handle, DEVICE, open_options()).await.unwrap();
            for page in acknowledged {
                assert_eq!(read(&store, page).await, Some(7), "{policy}, page {page}");
            }
        });
    }
}

/// Faults of single blocks: a read returns the page as written, or an error that names it.
#[test]
fn damaged_lost_misdirected_and_stale_blocks_are_never_passed_on() {
    let faults = [
        Fault::DamagedWrite,
        Fault::LostWrite,
        Fault::MisdirectedWrite,
        Fault::DamagedRead,
        Fault::StaleRead,
    ];
    let mut detected = 0;
    for policy in PolicyKind::ALL {
        for fault in faults {
            for seed in 0..6 {
                let rule = FaultRule { fault, when: When::PerMillion(4_000), blocks: 0..u64::MAX };
                let plan = FaultPlan { seed, rules: vec![rule] };
                let (world, _) = common::model_world("x25-e-64", |media| media.with_faults(plan));
                detected += usize::from(run(world, async |handle| survive(&handle, policy).await.is_err()));
            }
        }
    }
    assert!(detected > 20, "{detected}");
}

/// Writes and reads up to an error. Panics if a read returns a wrong page.
async fn survive(handle: &nandle_io::runtime::Handle, policy: PolicyKind) -> Result<(), PageError> {
    let store = Store::create(handle, DEVICE, &create_options(policy), open_options()).await?;
    let mut newest = [0; 64];
    for version in 1..=150 {
        let pages = [version * 29 % 64, version * 7 % 5];
        store.commit(batch(&store, &pages, version)).await?;
        pages.iter().for_each(|page| newest[*page as usize] = version);
        let page = version * 13 % 64;
        let contents = store.read(PageNumber(page)).await?;
        if newest[page as usize] > 0 {
            assert_eq!(version_in(&contents, page), Some(newest[page as usize]), "{policy}");
        }
    }
    store.verify().await?;
    Ok(())
}

/// Damage present at the opening.
#[test]
fn damaged_structures_are_named_and_their_copies_used() {
    for policy in PolicyKind::ALL {
        let (world, media) = common::model_world("x25-e-64", |media| media);
        run(world, async |handle| {
            let store =
                Store::create(&handle, DEVICE, &create_options(policy), open_options()).await.unwrap();
            store.commit(batch(&store, &[1, 2, 3], 5)).await.unwrap();
            store.close().await.unwrap();
        });
        let reopened = |damage: &[u64]| {
            let mut contents = media.borrow().contents().clone();
            for page in damage {
                (0..PAGE_BYTES as u64 / 512).for_each(|block| contents.damage(page * 8 + block, 3));
            }
            let (world, _) = common::world_on("x25-e-64", Media::on(contents));
            run(world, async |handle| {
                let store = Store::open(&handle, DEVICE, open_options()).await?;
                store.read(PageNumber(2)).await.map(|contents| version_in(&contents, 2))
            })
        };
        let labels: Vec<u64> = label_places().map(|place| place / PAGE_BYTES as u64).collect();
        let ledgers: Vec<u64> = labels.iter().map(|label| label + 2).collect();
        assert_eq!(reopened(&labels[..7]), Ok(Some(5)), "{policy}: the last label");
        assert!(matches!(reopened(&labels), Err(PageError::NotAStore { .. })), "{policy}");
        if policy != PolicyKind::Direct {
            // A closed store has written more ledgers than these two.
            assert_eq!(reopened(&ledgers[..2]), Ok(Some(5)), "{policy}: two ledgers");
            let all = reopened(&ledgers);
            assert!(matches!(all, Err(PageError::Corrupt { .. })), "{policy}: all ledgers: {all:?}");
        }
    }
}

#[test]
fn a_store_opened_for_reading_writes_nothing() {
    for policy in PolicyKind::ALL {
        let (world, media) = common::model_world("x25-e-64", |media| media);
        run(world, async |handle| {
            let store =
                Store::create(&handle, DEVICE, &create_options(policy), open_options()).await.unwrap();
            store.commit(batch(&store, &[1, 2, 3], 5)).await.unwrap();
        });
        let before = media.borrow().contents_hash();
        let fork = media.borrow().fork();
        let (world, fork) = common::world_on("x25-e-64", fork);
        run(world, async |handle| {
            let options = OpenOptions { read_only: true, ..open_options() };
            let store = Store::open(&handle, DEVICE, options).await.unwrap();
            assert_eq!(read(&store, 2).await, Some(5));
            let refused = store.commit(batch(&store, &[1], 6)).await;
            assert_eq!(refused, Err(PageError::ReadOnly));
            store.close().await.unwrap();
        });
        assert_eq!(fork.borrow().contents_hash(), before, "{policy}");
    }
}

/// Some file systems and stacked devices report only on request that they don't support discards.
#[test]
fn a_device_that_takes_no_discards_after_all_is_asked_once() {
    for policy in PolicyKind::ALL {
        let mut world = MemoryWorld::new(64, Nanos::from_micros(20));
        world.add(4 << 20, 512);
        let faults = world.faults();
        run(Box::new(world), async |handle| {
            let store =
                Store::create(&handle, DEVICE, &create_options(policy), open_options()).await.unwrap();
            assert!(store.stats().takes_discards);
            store.commit(batch(&store, &[1, 2], 1)).await.unwrap();
            faults.fail_next(DEVICE, "discard", Cause::System(95));
            for version in 2..60 {
                let mut changes = batch(&store, &[3, 4, 5], version);
                changes.discard(PageNumber(2));
                store.commit(changes).await.unwrap();
            }
            assert_eq!(read(&store, 5).await, Some(59), "{policy}");
            let stats = store.stats();
            if policy == PolicyKind::Direct {
                assert!(!stats.takes_discards, "{stats:?}");
            }
            assert!(stats.takes_discards || stats.device_discards == 0, "{policy}: {stats:?}");
        });
    }
}
