//! What only the out-of-place policy does.

mod common;

use common::{DEVICE, batch, create_options, open_options, read, run};
use nandle_model::media::Media;
use nandle_pages::{Batch, CreateOptions, PageNumber, PolicyKind, Store};

/// Many times over the whole area, with little that is free: cleaning moves what is alive, and nothing is lost, also when
/// the store is opened again every so often.
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

/// All pages alive in as little space as a store takes.
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

/// Damage in the middle of what was acknowledged is told, as long as a later header knows of it.
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
    // Labels and ledgers take four blocks. The first version is alone in a zone of 17 blocks, for pages that were written
    // once; the second begins the next zone.
    let mut contents = media.borrow().contents().clone();
    (0..8).for_each(|block| contents.damage((4 + 17) * 8 + block, 3));
    let (world, _) = common::world_on("x25-e-64", Media::on(contents));
    run(world, async |handle| {
        let opened = Store::open(&handle, DEVICE, open_options()).await;
        assert!(matches!(opened, Err(nandle_pages::PageError::Corrupt { .. })), "{opened:?}");
    });
}
