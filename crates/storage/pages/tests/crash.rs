//! Power cuts after every operation of random histories on modelled media, and again during
//! recovery.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::needless_for_each,
    reason = "helpers of tests are part of them"
)]

mod common;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use common::{DEVICE, batch, create_options, open_options, run, version_in, world_on};
use nandle_io::conformance::MemoryWorld;
use nandle_io::runtime::Handle;
use nandle_io::{Arrays, DeviceId, Io, Nanos, Shape};
use nandle_model::media::{CrashImages, Media, MediaWorld, PowerCut, Sequence, SharedMedia, Tearing};
use nandle_pages::{Batch, Experiments, OpenOptions, PageNumber, PolicyKind, Store};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const MODEL: &str = "x25-e-64";
const PAGES: u64 = 64;

/// Writes of a history, with the events from which they are promised.
#[derive(Debug, Default, Clone)]
struct Promise {
    /// Batches in order, as pages with versions; 0 is a discard.
    batches: Vec<Vec<(u64, u64)>>,
    /// Number of acknowledged batches from an event on.
    acknowledged: Vec<(u64, usize)>,
}

impl Promise {
    fn at(&self, cut: u64) -> usize {
        self.acknowledged.iter().rfind(|(at, _)| *at <= cut).map_or(0, |(_, count)| *count)
    }

    /// Newest versions after the first `count` batches.
    fn state(&self, count: usize) -> BTreeMap<u64, u64> {
        self.batches[..count].iter().flatten().copied().collect()
    }
}

fn random_batch(random: &mut Xoshiro256PlusPlus, version: u64) -> Vec<(u64, u64)> {
    let count = random.random_range(1..=3);
    let mut pages = BTreeMap::new();
    for _ in 0..count {
        // Few pages, so that they are rewritten often; occasional discards.
        let page =
            if random.random_bool(0.5) { random.random_range(0..6) } else { random.random_range(0..PAGES) };
        pages.insert(page, if random.random_bool(0.1) { 0 } else { version });
    }
    pages.into_iter().collect()
}

fn batch_of(store: &Store, changes: &[(u64, u64)]) -> Batch {
    let mut result = Batch::new();
    for &(page, version) in changes {
        if version == 0 {
            result.discard(PageNumber(page));
        } else {
            let mut buffer = store.buffer().unwrap();
            common::fill(&mut buffer, page, version);
            result.put(PageNumber(page), buffer.freeze());
        }
    }
    result
}

/// Runs and records a history.
fn record(
    policy: PolicyKind,
    seed: u64,
    batches: u64,
    options: OpenOptions,
) -> (nandle_model::media::SharedMedia, Promise) {
    // Created on separate media, so that the recording begins with an existing store.
    let (world, media) = world_on(MODEL, small());
    run(world, async |handle| {
        let store = Store::create(&handle, DEVICE, &create_options(policy), options).await.unwrap();
        store.close().await.unwrap();
    });
    let media = media.borrow().fork().recorded();
    let (world, media) = world_on(MODEL, media);
    let promise = Rc::new(RefCell::new(Promise::default()));
    let outcome = Rc::clone(&promise);
    let watched = Rc::clone(&media);
    run(world, async move |handle| {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let store = Store::open(&handle, DEVICE, options).await.unwrap();
        for version in 1..=batches {
            let changes = random_batch(&mut random, version);
            let made = batch_of(&store, &changes);
            outcome.borrow_mut().batches.push(changes);
            if random.random_bool(0.7) {
                store.commit(made).await.unwrap();
                let count = outcome.borrow().batches.len();
                let position = watched.borrow().position();
                outcome.borrow_mut().acknowledged.push((position, count));
            } else {
                store.write(made).await.unwrap();
            }
            if random.random_bool(0.02) {
                store.checkpoint().await.unwrap();
            }
        }
    });
    let promise = promise.borrow().clone();
    (media, promise)
}

/// Large enough for these stores. The timing model's larger capacity doesn't matter.
fn small() -> Media {
    let shape = Shape { capacity_bytes: 2 << 20, ..model_shape() };
    Media::of_shape(&shape)
}

fn model_shape() -> Shape {
    nandle_model::library::Model::named(MODEL).unwrap().device().unwrap().shape
}

/// Opens a state left by a power cut, and checks it. Also returns the recovered media.
fn judge(
    media: Media,
    promise: &Promise,
    promised: usize,
    policy: PolicyKind,
) -> (Option<String>, nandle_model::media::SharedMedia) {
    let (world, media) = world_on(MODEL, media);
    let pages: Result<Vec<_>, String> = run(world, async |handle| {
        let store = Store::open(&handle, DEVICE, open_options()).await.map_err(|error| error.to_string())?;
        let mut pages = Vec::new();
        for page in 0..PAGES {
            let contents = store.read(PageNumber(page)).await.map_err(|error| error.to_string())?;
            let is_blank = contents.iter().all(|byte| *byte == 0);
            pages.push((version_in(&contents, page), is_blank));
        }
        Ok(pages)
    });
    let pages = match pages {
        Ok(pages) => pages,
        Err(error) => return (Some(error), media),
    };
    let complaint = if policy.promises().atomic_batch {
        // Some number of batches, at least the promised one, must explain every page.
        let explained =
            (promised..=promise.batches.len()).any(|count| explains(&promise.state(count), &pages));
        (!explained).then(|| format!("no prefix of the batches from {promised} on explains the pages"))
    } else {
        direct_complaint(promise, promised, &pages)
    };
    (complaint, media)
}

fn explains(state: &BTreeMap<u64, u64>, pages: &[(Option<u64>, bool)]) -> bool {
    (0..).zip(pages).all(|(page, (version, is_blank))| match state.get(&page) {
        // A discarded page may hold anything that it ever held.
        Some(0) => true,
        Some(expected) => *version == Some(*expected),
        None => *is_blank,
    })
}

/// A page that isn't written after the promise must have the promised version.
fn direct_complaint(promise: &Promise, promised: usize, pages: &[(Option<u64>, bool)]) -> Option<String> {
    let later: BTreeMap<u64, u64> = promise.batches[promised..].iter().flatten().copied().collect();
    let certain = promise.state(promised).into_iter().filter(|(page, _)| !later.contains_key(page));
    certain
        .filter(|(page, version)| *version != 0 && pages[*page as usize].0 != Some(*version))
        .map(|(page, version)| format!("page {page} lost its version {version}"))
        .next()
}

fn explore(policy: PolicyKind, seed: u64, batches: u64, options: OpenOptions, cuts: PowerCut) -> usize {
    let (media, promise) = record(policy, seed, batches, options);
    let media = media.borrow();
    let recordings = [media.recording().unwrap()];
    let mut images = 0;
    for image in CrashImages::new(&recordings, cuts).distinct(|cut| promise.at(cut)) {
        images += 1;
        let promised = promise.at(image.cut);
        let (complaint, _) = judge(Media::on(image.contents[0].clone()), &promise, promised, policy);
        assert_eq!(complaint, None, "{policy}, seed {seed}, cut {}, choice {}", image.cut, image.choice);
    }
    images
}

#[test]
fn nothing_acknowledged_is_lost_and_no_batch_is_there_in_part() {
    let mut images = 0;
    for policy in PolicyKind::ALL {
        for seed in 1..=3 {
            let gather_bytes = if seed == 2 { 16 << 10 } else { 0 };
            let options = OpenOptions { gather_bytes, ..open_options() };
            let tearing = if seed == 3 { Tearing::InsideBlocks } else { Tearing::BetweenBlocks };
            let cuts = PowerCut { seed, choices: 4, tearing };
            images += explore(policy, seed, 60, options, cuts);
        }
    }
    assert!(images > 1000, "{images}");
}

/// Each version is destaged before the next is accepted, with a power cut at every step.
#[test]
fn without_absorption_the_newest_version_survives_all_the_same() {
    for policy in [PolicyKind::DoubleWrite, PolicyKind::StableBuffer, PolicyKind::StableRing] {
        for gather_bytes in [0, 16 << 10] {
            let options = OpenOptions {
                experiments: Experiments { absorb: false, ..Experiments::default() },
                gather_bytes,
                ..open_options()
            };
            let cuts = PowerCut { choices: 4, ..PowerCut::seeded(31) };
            assert!(explore(policy, 31, 60, options, cuts) > 50, "{policy}");
        }
    }
}

#[test]
fn recovery_can_be_cut_again() {
    for policy in PolicyKind::ALL {
        let (media, promise) = record(policy, 9, 25, open_options());
        let media = media.borrow();
        let recordings = [media.recording().unwrap()];
        let mut images = 0;
        for image in
            CrashImages::new(&recordings, PowerCut::seeded(4)).distinct(|cut| promise.at(cut)).step_by(7)
        {
            let promised = promise.at(image.cut);
            let first = Media::on(image.contents[0].clone()).recorded();
            let (complaint, recovering) = judge(first, &promise, promised, policy);
            assert_eq!(complaint, None);
            let recovering = recovering.borrow();
            let recordings = [recovering.recording().unwrap()];
            for again in CrashImages::new(&recordings, PowerCut { choices: 4, ..PowerCut::seeded(5) }) {
                let (complaint, _) = judge(Media::on(again.contents[0].clone()), &promise, promised, policy);
                assert_eq!(complaint, None, "{policy}, cut {}, again at {}", image.cut, again.cut);
                images += 1;
            }
        }
        assert!(images > 20 || policy == PolicyKind::Direct, "{policy}: {images}");
    }
}

/// Remains of the first life must not reappear in the third.
#[test]
fn what_was_aborted_or_superseded_never_comes_back() {
    for policy in PolicyKind::ALL.into_iter().filter(|policy| policy.promises().atomic_batch) {
        let (media, promise) = record(policy, 21, 20, open_options());
        let media = media.borrow();
        let recordings = [media.recording().unwrap()];
        let cuts = PowerCut { choices: 3, ..PowerCut::seeded(6) };
        for image in CrashImages::new(&recordings, cuts).distinct(|cut| promise.at(cut)).step_by(5) {
            let (world, second) = world_on(MODEL, Media::on(image.contents[0].clone()).recorded());
            let first_pages = run(world, async |handle| {
                let store = Store::open(&handle, DEVICE, open_options()).await.unwrap();
                let mut before = Vec::new();
                for page in 0..PAGES {
                    before.push(version_in(&store.read(PageNumber(page)).await.unwrap(), page));
                }
                // Few commits, so that the old extents still exist at the next power cut.
                store.commit(batch(&store, &[1, 40], 1000)).await.unwrap();
                before
            });
            let fork = second.borrow().fork();
            let (world, _) = world_on(MODEL, fork);
            run(world, async |handle| {
                let store = Store::open(&handle, DEVICE, open_options()).await.unwrap();
                for page in 0..PAGES {
                    let found = version_in(&store.read(PageNumber(page)).await.unwrap(), page);
                    let expected =
                        if page == 1 || page == 40 { Some(1000) } else { first_pages[page as usize] };
                    assert_eq!(found, expected, "{policy}, cut {}, page {page}", image.cut);
                }
            });
        }
    }
}

/// The legs of a mirror have independent survivors. Afterwards every read returns the same contents
/// from either leg.
#[test]
fn the_legs_of_a_mirror_dont_answer_differently() {
    for policy in PolicyKind::ALL.into_iter().filter(|policy| policy.promises().atomic_batch) {
        let sequence = Sequence::default();
        let fresh = [(); 2].map(|()| small());
        let (world, legs) = mirror(fresh);
        run(world, async |handle| {
            drop(Store::create(&handle, ARRAY, &create_options(policy), open_options()).await.unwrap());
        });
        let recorded = legs.map(|leg| leg.borrow().fork().recorded_in(&sequence));
        let (world, legs) = mirror(recorded);
        run(world, async |handle| {
            let store = Store::open(&handle, ARRAY, open_options()).await.unwrap();
            for version in 1..=12 {
                store.commit(batch(&store, &[version % 5, 20 + version], version)).await.unwrap();
            }
        });
        let legs = legs.each_ref().map(|leg| leg.borrow());
        let recordings = legs.each_ref().map(|leg| leg.recording().unwrap());
        let cuts = PowerCut { choices: 6, ..PowerCut::seeded(8) };
        for image in CrashImages::new(&recordings, cuts) {
            let halves = [0, 1].map(|leg: usize| Media::on(image.contents[leg].clone()));
            let (world, legs) = mirror(halves);
            let seen = run(world, async |handle| versions(&handle, ARRAY).await);
            for leg in legs {
                // Each leg alone holds the complete state, which the second opening recovers.
                let (world, _) = mirror([leg.borrow().fork(), leg.borrow().fork()]);
                let alone = run(world, async |handle| versions(&handle, ARRAY).await);
                assert_eq!(seen, alone, "{policy}, cut {}, choice {}", image.cut, image.choice);
            }
        }
    }
}

const ARRAY: DeviceId = DeviceId::from_index(2);

fn mirror(media: [Media; 2]) -> (Box<dyn Io>, [SharedMedia; 2]) {
    // Exactly as large as the media, as resynchronisation copies all of it.
    let mut timing = MemoryWorld::new(64, Nanos::from_micros(20));
    for _ in 0..2 {
        timing.add(2 << 20, 512);
    }
    let mut world = MediaWorld::new(timing);
    let mut attached =
        (0..).zip(media).map(|(leg, media)| world.attach(DeviceId::from_index(leg), media).unwrap());
    let legs = [attached.next().unwrap(), attached.next().unwrap()];
    drop(attached);
    let mut arrays = Arrays::new(Box::new(world));
    let array = arrays.raid10(&[0, 1].map(DeviceId::from_index), 64 << 10).unwrap();
    assert_eq!(array.id, ARRAY);
    // Like an array opened after a power cut: the valid leg is chosen once.
    arrays.resynchronise(ARRAY, nandle_io::array::Leg::Second).unwrap();
    (Box::new(arrays), legs)
}

/// Versions of the written pages in an opened store.
async fn versions(handle: &Handle, device: DeviceId) -> Vec<Option<u64>> {
    let store = Store::open(handle, device, open_options()).await.unwrap();
    let mut versions = Vec::new();
    for page in (0..5).chain(20..33) {
        versions.push(version_in(&store.read(PageNumber(page)).await.unwrap(), page));
    }
    versions
}
