//! A closed store with one wrong block returns correct contents or an error, never older contents.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::needless_for_each,
    reason = "helpers of tests are part of them"
)]

mod common;

use common::{DEVICE, batch, create_options, model_world, open_options, run, version_in, world_on};
use nandle_io::{Arena, Operation};
use nandle_model::media::{Contents, Media};
use nandle_pages::{PageError, PageNumber, PolicyKind, Store};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const MODEL: &str = "x25-e-64";
const PAGES: u64 = 64;
const BLOCK_BYTES: usize = 4096;
const IMAGE_BYTES: usize = 1 << 20;
const STAGING: [PolicyKind; 3] = [PolicyKind::DoubleWrite, PolicyKind::StableBuffer, PolicyKind::StableRing];

/// History of a store.
struct History {
    /// Contents of the device after each commit.
    images: Vec<Vec<u8>>,
    closed: Contents,
    newest: [u64; PAGES as usize],
}

/// Runs three sessions, each closed. At the end all pages are home, or some are staged.
fn history(policy: PolicyKind, seed: u64, is_checkpointed: bool) -> History {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let (mut images, mut newest, mut version) = (Vec::new(), [0; PAGES as usize], 0);
    let (world, media) = model_world(MODEL, |media| media);
    run(world, async |handle| {
        let store = Store::create(&handle, DEVICE, &create_options(policy), open_options()).await.unwrap();
        store.close().await.unwrap();
        for commits in [25, 20, random.random_range(1..15)] {
            let store = Store::open(&handle, DEVICE, open_options()).await.unwrap();
            for _ in 0..commits {
                version += 1;
                let pages = [random.random_range(0..6), random.random_range(6..PAGES)];
                store.commit(batch(&store, &pages, version)).await.unwrap();
                pages.iter().for_each(|page| newest[*page as usize] = version);
                images.push(image_of(&media.borrow()));
            }
            if is_checkpointed {
                store.checkpoint().await.unwrap();
            }
            store.close().await.unwrap();
        }
    });
    images.push(image_of(&media.borrow()));
    let closed = media.borrow().contents().clone();
    History { images, closed, newest }
}

fn image_of(media: &Media) -> Vec<u8> {
    let mut image = vec![0; IMAGE_BYTES];
    media.read_into(0, &mut image).unwrap();
    image
}

/// All kinds of wrong contents for one block.
fn damages(history: &History, block: usize, random: &mut Xoshiro256PlusPlus) -> Vec<(&'static str, Vec<u8>)> {
    let of = |image: &Vec<u8>, block: usize| image[block * BLOCK_BYTES..(block + 1) * BLOCK_BYTES].to_vec();
    let newest = history.images.last().unwrap();
    let right = of(newest, block);
    let mut flipped = right.clone();
    flipped[random.random_range(0..BLOCK_BYTES)] ^= 1 << random.random_range(0..8);
    let other = random.random_range(0..IMAGE_BYTES / BLOCK_BYTES);
    let mut damages = vec![
        ("a bit flipped", flipped),
        ("zeroed", vec![0; BLOCK_BYTES]),
        ("another block's contents", of(newest, other)),
    ];
    let mut older: Vec<_> = history.images.iter().map(|image| of(image, block)).collect();
    older.sort_unstable();
    older.dedup();
    damages.extend(older.into_iter().map(|older| ("an older version", older)));
    damages.retain(|(_, contents)| *contents != right);
    damages
}

/// Versions in the store with such a block.
fn versions(history: &History, block: usize, contents: &[u8]) -> Result<Vec<Option<u64>>, PageError> {
    let mut media = Media::on(history.closed.clone());
    let arena = Arena::new(BLOCK_BYTES).unwrap();
    let mut buffer = arena.allocate(BLOCK_BYTES).unwrap();
    buffer.copy_from_slice(contents);
    let mut write = Operation::write((block * BLOCK_BYTES) as u64, buffer.freeze());
    let id = media.begin(&write).unwrap();
    media.complete(id, &mut write).result.unwrap();
    let (world, _) = world_on(MODEL, media.fork());
    run(world, async |handle| {
        let store = Store::open(&handle, DEVICE, open_options()).await?;
        let mut versions = Vec::new();
        for page in 0..PAGES {
            versions.push(version_in(&store.read(PageNumber(page)).await?, page));
        }
        Ok(versions)
    })
}

#[test]
fn one_block_that_is_not_what_was_written_last_is_never_passed_over() {
    let (mut trials, mut detected) = (0, 0);
    let mut wrong = Vec::new();
    for policy in STAGING {
        for (seed, is_checkpointed) in [(1, false), (2, true), (3, false)] {
            let history = history(policy, seed, is_checkpointed);
            let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
            for block in 0..IMAGE_BYTES / BLOCK_BYTES {
                for (kind, contents) in damages(&history, block, &mut random) {
                    trials += 1;
                    let Ok(found) = versions(&history, block, &contents) else {
                        detected += 1;
                        continue;
                    };
                    let differs = |page: &usize| {
                        let newest = history.newest[*page];
                        newest > 0 && found[*page] != Some(newest)
                    };
                    let pages: Vec<_> = (0..PAGES as usize).filter(differs).collect();
                    if !pages.is_empty() {
                        wrong.push(format!("{policy}, seed {seed}, block {block}, {kind}: pages {pages:?}"));
                    }
                }
            }
        }
    }
    assert!(trials > 5000 && detected > 500, "{trials} trials, {detected} detected");
    assert!(wrong.is_empty(), "{} of {trials}: {:#?}", wrong.len(), &wrong[..wrong.len().min(20)]);
}
