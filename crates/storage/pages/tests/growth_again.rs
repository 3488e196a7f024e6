//! Successive interrupted growths and openings, with failing flushes: at least one copy of the
//! label always survives.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::needless_for_each,
    reason = "helpers of tests are part of them"
)]

mod common;

use common::{DEVICE, batch, create_options, open_options, read, run, world_on};
use nandle_io::{Nanos, Shape};
use nandle_model::media::faults::Lasts;
use nandle_model::media::{
    Contents, CrashImages, Fault, FaultPlan, Media, PowerCut, SharedMedia, Tearing, When,
};
use nandle_pages::{CreateOptions, PolicyKind, Store};

const MODEL: &str = "x25-e-64";
/// A policy for each page layout: labels are the same in all, and ledgers of zones grow with them.
const POLICIES: [PolicyKind; 3] = [PolicyKind::Direct, PolicyKind::StableRing, PolicyKind::OutOfPlace];
const TEARINGS: [Tearing; 2] = [Tearing::BetweenBlocks, Tearing::InsideBlocks];
/// Longer than any request.
const QUIET: Nanos = Nanos::from_secs(1);

fn created(policy: PolicyKind) -> Media {
    let shape = nandle_model::library::Model::named(MODEL).unwrap().device().unwrap().shape;
    let (world, media) = world_on(MODEL, Media::of_shape(&Shape { capacity_bytes: 8 << 20, ..shape }));
    run(world, async |handle| {
        let create = CreateOptions { pages_max: Some(2000), ..create_options(policy) };
        let store = Store::create(&handle, DEVICE, &create, open_options()).await.unwrap();
        store.commit(batch(&store, &[1, 63], 1)).await.unwrap();
        store.close().await.unwrap();
    });
    media.borrow().fork()
}

/// A growth of zones writes far more, so that only some cases are tested.
fn sparsely(policy: PolicyKind, one_in: usize) -> usize {
    if policy == PolicyKind::OutOfPlace { one_in } else { 1 }
}

/// All possible images of a recorded life.
fn images(media: &SharedMedia, tearing: Tearing) -> Vec<(u64, Contents)> {
    let media = media.borrow();
    let recordings = [media.recording().unwrap()];
    let cuts = PowerCut { seed: 5, choices: 3, tearing };
    let images = CrashImages::new(&recordings, cuts).distinct(|cut| cut as usize);
    images.map(|image| (image.cut, image.contents[0].clone())).collect()
}

/// Opens an image. Asserts that it has one of these numbers of pages, and all commits.
fn check(contents: &Contents, numbers: &[u64], context: &str) {
    let (world, _) = world_on(MODEL, Media::on(contents.clone()));
    run(world, async |handle| {
        let store = Store::open(&handle, DEVICE, open_options()).await;
        let store = store.unwrap_or_else(|error| panic!("{context}: {error}"));
        assert!(numbers.contains(&store.pages()), "{context}: {} pages, not {numbers:?}", store.pages());
        assert_eq!((read(&store, 1).await, read(&store, 63).await), (Some(1), Some(1)), "{context}");
    });
}

#[test]
fn a_growth_that_follows_on_one_that_was_cut_off_is_cut_off() {
    for (policy, tearing) in POLICIES.into_iter().flat_map(|policy| TEARINGS.map(|tearing| (policy, tearing)))
    {
        let (world, media) = world_on(MODEL, created(policy).recorded());
        run(world, async |handle| {
            let store = Store::open(&handle, DEVICE, open_options()).await.unwrap();
            store.grow(100).await.unwrap();
        });
        for (first_cut, contents) in images(&media, tearing).into_iter().step_by(sparsely(policy, 6)) {
            let (world, media) = world_on(MODEL, Media::on(contents).recorded());
            let mut before = 0;
            run(world, async |handle| {
                let store = Store::open(&handle, DEVICE, open_options()).await.unwrap();
                before = store.pages();
                store.grow(200).await.unwrap();
            });
            for (cut, contents) in images(&media, tearing) {
                check(&contents, &[64, before, 200], &format!("{policy}, cut at {first_cut} and {cut}"));
            }
        }
    }
}

#[test]
fn a_label_that_may_not_be_durable_is_not_the_only_one() {
    for (policy, tearing) in POLICIES.into_iter().flat_map(|policy| TEARINGS.map(|tearing| (policy, tearing)))
    {
        let mut failures = 0;
        for operation in 0..40 {
            let plan = FaultPlan::none().and(Fault::FailedFlush(Lasts::Once), When::Operation(operation));
            let (world, media) = world_on(MODEL, created(policy).with_faults(plan).recorded());
            run(world, async |handle| {
                // The power stays on, so volatile data is readable.
                for _ in 0..3 {
                    if let Ok(store) = Store::open(&handle, DEVICE, open_options()).await {
                        failures += u32::from(store.grow(100).await.is_err());
                    }
                    handle.sleep(QUIET).await;
                }
            });
            for (cut, contents) in images(&media, tearing).into_iter().step_by(sparsely(policy, 6)) {
                check(&contents, &[64, 100], &format!("{policy}, failed at {operation}, cut at {cut}"));
            }
        }
        assert!(failures > 0, "{policy}: no flush of a growth failed");
    }
}
