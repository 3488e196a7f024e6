//! Salvage of closed stores with a bad block or a bad mapping unit of 64 KiB, compared with an
//! opening. Each page that the opening reads must be salvaged with the same contents, as sound.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests are part of them")]

mod common;

use std::collections::BTreeMap;
use std::ops::Range;

use common::{DEVICE, batch, create_options, model_world, open_options, run, world_on};
use nandle_io::{Arena, Operation};
use nandle_model::media::{Contents, Media};
use nandle_pages::salvage::{InspectOptions, Inspection, PageState};
use nandle_pages::{BLOCK_BYTES, CreateOptions, HEADER_BYTES, OpenOptions, PageNumber, PolicyKind, Store};
use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const MODEL: &str = "x25-e-64";
const PAGES: u64 = 64;
const LOGICAL_BYTES: u64 = 512;
const UNIT_BLOCKS: u64 = 16;
const BLOCK: u64 = BLOCK_BYTES as u64;

/// Pages with contents; the header at the start of its page.
type Pages = BTreeMap<PageNumber, Vec<u8>>;

/// A closed store, and its written pages.
struct Closed {
    contents: Contents,
    blocks: u64,
    written: Vec<PageNumber>,
}

fn closed(policy: PolicyKind, seed: u64) -> Closed {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let options = CreateOptions { buffer_bytes: 256 << 10, ..create_options(policy) };
    let blocks = options.device_bytes().unwrap() / BLOCK;
    let (world, media) = model_world(MODEL, |media| media);
    let mut written = vec![PageNumber::HEADER];
    run(world, async |handle| {
        let mut store = Store::create(&handle, DEVICE, &options, open_options()).await.unwrap();
        let mut version = 0;
        for _ in 0..3 {
            for _ in 0..random.random_range(10..16) {
                version += 1;
                // Some pages are never written.
                let pages = [random.random_range(0..6), random.random_range(6..PAGES - 8)];
                let mut batch = batch(&store, &pages, version);
                if version % 5 == 0 {
                    batch.set_header([7; HEADER_BYTES]);
                }
                store.commit(batch).await.unwrap();
                written.extend(pages.map(PageNumber));
            }
            store.close().await.unwrap();
            store = Store::open(&handle, DEVICE, open_options()).await.unwrap();
        }
        store.close().await.unwrap();
    });
    written.sort_unstable();
    written.dedup();
    let contents = media.borrow().contents().clone();
    Closed { contents, blocks, written }
}

/// Kind of damage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bad {
    Unreadable,
    Zeroed,
    Noise,
}

impl Closed {
    /// Damaged media, or `None` if the damage changes nothing.
    fn with(&self, blocks: &Range<u64>, bad: Bad) -> Option<Media> {
        let media = Media::on(self.contents.clone());
        let start = blocks.start * BLOCK;
        let length = usize::try_from((blocks.end - blocks.start) * BLOCK).unwrap();
        let mut buffer = Arena::new(length).unwrap().allocate(length).unwrap();
        media.read_into(start, &mut buffer).unwrap();
        if bad == Bad::Unreadable {
            let logical = BLOCK / LOGICAL_BYTES;
            return Some(media.with_unreadable(blocks.start * logical..blocks.end * logical));
        }
        if buffer.iter().all(|byte| *byte == 0) {
            return None;
        }
        match bad {
            Bad::Noise => Xoshiro256PlusPlus::seed_from_u64(start).fill_bytes(&mut buffer),
            Bad::Zeroed | Bad::Unreadable => buffer.fill(0),
        }
        let mut media = media;
        let mut write = Operation::write(start, buffer.freeze());
        let id = media.begin(&write).unwrap();
        media.complete(id, &mut write).result.unwrap();
        Some(media.fork())
    }
}

/// Pages read by an opening.
fn opened(media: Media, wanted: &[PageNumber]) -> Result<Pages, String> {
    let (world, _) = world_on(MODEL, media);
    run(world, async |handle| {
        let options = OpenOptions { read_only: true, ..open_options() };
        let store = Store::open(&handle, DEVICE, options).await.map_err(|error| error.to_string())?;
        let mut pages = Pages::new();
        for &page in wanted {
            let contents = match page {
                PageNumber::HEADER => store.header().await.map(|header| header.to_vec()),
                page => store.read(page).await.map(|contents| contents.to_vec()),
            };
            pages.extend(contents.ok().map(|contents| (page, contents)));
        }
        Ok(pages)
    })
}

/// Pages found by an inspection.
fn salvaged(media: Media) -> BTreeMap<PageNumber, (Vec<u8>, PageState)> {
    let (world, _) = world_on(MODEL, media);
    run(world, async |handle| {
        let mut inspection = Inspection::begin(&handle, DEVICE, &InspectOptions::default()).await.unwrap();
        let mut pages = BTreeMap::new();
        let mut visit = |page, contents: &[u8], state| {
            let length = if page == PageNumber::HEADER { HEADER_BYTES } else { contents.len() };
            pages.insert(page, (contents[..length].to_vec(), state));
        };
        while inspection.step(&mut visit).await.unwrap().is_some() {}
        pages
    })
}

fn trials(policy: PolicyKind) {
    let closed = closed(policy, 7);
    let blocks = (0..closed.blocks).map(|block| block..block + 1);
    let units = (0..closed.blocks / UNIT_BLOCKS).map(|unit| unit * UNIT_BLOCKS..(unit + 1) * UNIT_BLOCKS);
    let (mut compared, mut wrong) = (0, Vec::new());
    for blocks in blocks.chain(units) {
        for bad in [Bad::Unreadable, Bad::Zeroed, Bad::Noise] {
            let (Some(one), Some(other)) = (closed.with(&blocks, bad), closed.with(&blocks, bad)) else {
                continue;
            };
            let opened = opened(one, &closed.written).unwrap();
            let salvaged = salvaged(other);
            for (page, contents) in opened {
                compared += 1;
                match salvaged.get(&page) {
                    Some((same, PageState::Sound)) if *same == contents => {}
                    other => wrong.push(format!(
                        "{bad:?} {blocks:?}: {page}: {:?}",
                        other.map(|(found, state)| (*found == contents, state))
                    )),
                }
            }
        }
    }
    assert!(compared > 10_000, "{policy}: {compared} pages");
    assert!(
        wrong.is_empty(),
        "{policy}, {} of {compared}: {:#?}",
        wrong.len(),
        &wrong[..wrong.len().min(12)]
    );
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
