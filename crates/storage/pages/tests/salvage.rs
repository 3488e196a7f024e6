//! Inspection of stores with a zeroed, flipped or unreadable block, compared with the writes.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::needless_for_each,
    reason = "helpers of tests are part of them"
)]

mod common;

use std::collections::BTreeMap;
use std::path::PathBuf;

use common::{DEVICE, batch, create_options, model_world, open_options, run, version_in, world_on};
use nandle_io::{Arena, Operation};
use nandle_model::media::{Contents, Fault, FaultPlan, FaultRule, Media, When, faults::Lasts};
use nandle_pages::salvage::{Finding, InspectOptions, Inspection, PageState, Problem, Report, Severity};
use nandle_pages::{PageNumber, PolicyKind, Store};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const MODEL: &str = "x25-e-64";
const PAGES: u64 = 64;
const BLOCK_BYTES: usize = 4096;
const IMAGE_BYTES: usize = 1 << 20;
const LOGICAL_BYTES: u64 = 512;

/// History of a store.
struct History {
    policy: PolicyKind,
    is_closed: bool,
    contents: Contents,
    image: Vec<u8>,
    newest: [u64; PAGES as usize],
    /// Pages of the last commits, which no structure proves to be durable.
    last: Vec<u64>,
}

/// Runs several sessions. The last one is closed if `is_closed` is set.
fn history(policy: PolicyKind, seed: u64, is_closed: bool) -> History {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let (mut newest, mut version, mut last) = ([0; PAGES as usize], 0, Vec::new());
    let (world, media) = model_world(MODEL, |media| media);
    let contents = run(world, async |handle| {
        let store = Store::create(&handle, DEVICE, &create_options(policy), open_options()).await.unwrap();
        store.close().await.unwrap();
        for (session, commits) in [25, 20, random.random_range(3..15)].into_iter().enumerate() {
            let store = Store::open(&handle, DEVICE, open_options()).await.unwrap();
            for _ in 0..commits {
                version += 1;
                // Some pages are never written.
                let pages = [random.random_range(0..6), random.random_range(6..PAGES - 8)];
                store.commit(batch(&store, &pages, version)).await.unwrap();
                pages.iter().for_each(|page| newest[*page as usize] = version);
                last.extend(pages);
            }
            if session == 2 && !is_closed {
                break;
            }
            store.close().await.unwrap();
        }
        media.borrow().contents().clone()
    });
    let mut image = vec![0; IMAGE_BYTES];
    Media::on(contents.clone()).read_into(0, &mut image).unwrap();
    let last = last.split_off(last.len() - 4);
    History { policy, is_closed, contents, image, newest, last }
}

/// Damage to a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Harm {
    None,
    Zeroed,
    Flipped,
    Unreadable,
}

fn media_with(history: &History, block: usize, harm: Harm) -> Media {
    let mut contents = history.image[block * BLOCK_BYTES..][..BLOCK_BYTES].to_vec();
    match harm {
        Harm::None => return Media::on(history.contents.clone()),
        Harm::Unreadable => {
            let blocks_of = BLOCK_BYTES as u64 / LOGICAL_BYTES;
            let first = block as u64 * blocks_of;
            let fault = Fault::FailedRead(Lasts::Once);
            let rule =
                FaultRule { fault, when: When::PerMillion(1_000_000), blocks: first..first + blocks_of };
            let plan = FaultPlan { seed: 1, rules: vec![rule] };
            return Media::on(history.contents.clone()).with_faults(plan);
        }
        Harm::Zeroed => contents.fill(0),
        Harm::Flipped => contents[(block * 331) % BLOCK_BYTES] ^= 0x20,
    }
    let mut media = Media::on(history.contents.clone());
    write(&mut media, (block * BLOCK_BYTES) as u64, &contents);
    media.fork()
}

/// Results of an inspection.
struct Told {
    findings: Vec<Finding>,
    pages: BTreeMap<u64, (Option<u64>, PageState)>,
    report: Report,
}

fn inspect(media: Media) -> Told {
    let (world, _) = world_on(MODEL, media);
    run(world, async |handle| {
        let mut inspection = Inspection::begin(&handle, DEVICE, &InspectOptions::default()).await.unwrap();
        let (mut findings, mut pages) = (Vec::new(), BTreeMap::new());
        let mut visit = |page: PageNumber, contents: &[u8], state| {
            let before = pages.insert(page.0, (version_in(contents, page.0), state));
            assert_eq!(before, None, "{page} comes once");
        };
        while let Some(step) = inspection.step(&mut visit).await.unwrap() {
            findings.extend(step.findings);
        }
        let report = inspection.report().clone();
        Told { findings, pages, report }
    })
}

/// Compares the results with the writes. Returns the number of pages that aren't sound.
fn judge(history: &History, told: &Told) -> Result<u64, String> {
    let Told { findings, pages, report } = told;
    let unfinished = |page: u64| {
        let named = findings
            .iter()
            .any(|it| it.problem == Problem::Unfinished && it.pages.contains(PageNumber(page)));
        // Without a later extent nothing proves that the last ones were durable.
        !history.is_closed && (named || history.last.contains(&page))
    };
    let mut unsound = 0;
    for (page, newest) in (0_u64..).zip(history.newest) {
        let number = PageNumber(page);
        let found = pages.get(&page).copied();
        let is_told = report.older.contains(number)
            || report.doubtful.contains(number)
            || report.lost.contains(number)
            || report.unchecked.contains(number)
            || unfinished(page);
        match found {
            Some((version, PageState::Sound)) if version == Some(newest) => {}
            Some((version, PageState::Sound)) if unfinished(page) && version < Some(newest) => {}
            // No structure records direct writes since the lost ledger.
            Some((version, PageState::Sound))
                if !history.is_closed && history.policy == PolicyKind::Auto && version.is_some() => {}
            Some((version, PageState::Sound)) => {
                return Err(format!("page {page} is called sound with {version:?} of {newest}"));
            }
            Some((version, PageState::Older | PageState::Doubtful)) => {
                if version.is_none_or(|version| version > newest) || !is_told {
                    return Err(format!("page {page}: {version:?} of {newest}"));
                }
            }
            Some((_, _)) if is_told => {}
            None if newest == 0 || is_told => {}
            // Without checksums a page of zeros counts as unwritten.
            None if !history.policy.promises().checks_pages => {}
            other => return Err(format!("page {page}, version {newest}: {other:?} isn't told")),
        }
        let is_right = found.map_or(newest == 0, |(version, _)| version == Some(newest));
        unsound += u64::from(!is_right);
    }
    let is_checked = history.policy.promises().checks_pages;
    let is_harmed = if is_checked { !report.is_sound() } else { report.worst == Some(Severity::Loss) };
    if unsound > 0 && !is_harmed && is_checked && history.is_closed {
        return Err(format!("{unsound} pages aren't what was written, and the store is called sound"));
    }
    Ok(unsound)
}

fn trials(policy: PolicyKind) {
    let (mut wrong, mut named, mut doubtful) = (Vec::new(), 0, 0);
    for (seed, is_closed) in [(1, true), (2, false)] {
        let history = history(policy, seed, is_closed);
        let told = inspect(media_with(&history, 0, Harm::None));
        assert_eq!(told.findings, [], "{policy}, seed {seed}");
        assert_eq!(judge(&history, &told), Ok(0), "{policy}, seed {seed}");
        for block in 0..IMAGE_BYTES / BLOCK_BYTES {
            for harm in [Harm::Zeroed, Harm::Flipped, Harm::Unreadable] {
                let is_zero =
                    history.image[block * BLOCK_BYTES..][..BLOCK_BYTES].iter().all(|byte| *byte == 0);
                if is_zero && harm != Harm::Unreadable {
                    continue;
                }
                let told = inspect(media_with(&history, block, harm));
                let place = format!("{policy}, seed {seed}, block {block}, {harm:?}");
                named += u64::from(!told.findings.is_empty());
                doubtful += u64::from(!told.report.doubtful.is_empty());
                match judge(&history, &told) {
                    Err(what) => wrong.push(format!("{place}: {what}; {:?}", told.findings)),
                    Ok(_) if told.report.lost.len() + told.report.older.len() > 1 && !policy.has_zones() => {
                        wrong.push(format!("{place}: {:?}", told.report));
                    }
                    Ok(_) => {}
                }
            }
        }
    }
    // Damage to headers of extents and to the newest ledger.
    assert!(named > 20 && doubtful < 100.max(named / 4), "{policy}: {named} named, {doubtful} doubtful");
    assert!(wrong.is_empty(), "{}: {:#?}", wrong.len(), &wrong[..wrong.len().min(12)]);
}

#[test]
fn direct() {
    trials(PolicyKind::Direct);
}

#[test]
fn doublewrite() {
    trials(PolicyKind::DoubleWrite);
}

#[test]
fn stable_buffer() {
    trials(PolicyKind::StableBuffer);
}

#[test]
fn stable_ring() {
    trials(PolicyKind::StableRing);
}

#[test]
fn out_of_place() {
    trials(PolicyKind::OutOfPlace);
}

#[test]
fn auto() {
    trials(PolicyKind::Auto);
}

/// Stores of earlier versions after a power cut.
#[test]
fn stores_of_all_versions_are_sound() {
    let folder = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap()).join("tests/fixtures");
    for (version, policy) in (1..=4).flat_map(|version| PolicyKind::ALL.map(|policy| (version, policy))) {
        let image = std::fs::File::open(folder.join(format!("{policy}.v{version}.zst"))).unwrap();
        let image = zstd::decode_all(image).unwrap();
        let mut media = Media::new(4 << 20, 512);
        write(&mut media, 0, &image);
        let told = inspect(media.fork());
        let Told { findings, pages, report } = told;
        assert!(report.is_sound(), "{policy}, version {version}: {findings:?}");
        for page in (1..=30).filter(|page| *page != 3) {
            assert_eq!(pages[&page].0, Some(page), "{policy}, version {version}: {findings:?}");
        }
        for page in 40..47 {
            let newest = (24..=30).find(|version| 40 + version % 7 == page);
            assert_eq!(pages[&page].0, newest, "{policy}, version {version}: {findings:?}");
        }
    }
}

fn write(media: &mut Media, offset_bytes: u64, contents: &[u8]) {
    let mut buffer = Arena::new(contents.len()).unwrap().allocate(contents.len()).unwrap();
    buffer.copy_from_slice(contents);
    let mut write = Operation::write(offset_bytes, buffer.freeze());
    let id = media.begin(&write).unwrap();
    media.complete(id, &mut write).result.unwrap();
}
