//! Whole lives of stores converted from an earlier format: first in a file, then on a modelled
//! device.

use std::collections::BTreeMap;

use nandle_io::{Arena, Operation};
use nandle_model::media::{Contents, Media};
use nandle_pages::{BatchNumber, OpenOptions, PageStore, PolicyKind};

use crate::contents::FIXTURE_VERSIONS;
use crate::explore::Outcome;
use crate::fixtures::{DISCARDED, Fixture, PAGE_BYTES, PAGES, versions};
use crate::oracle::{Change, Growth, Page, Promise, Record};
use crate::scenario::{Scenario, Zones};
use crate::whole_life::{Birth, whole_life_from};

/// Length of each fixture's staging area.
const BUFFER_BYTES: u64 = 32 * PAGE_BYTES as u64;
/// Length of a write request of an image.
const PIECE_BYTES: usize = 1 << 20;

/// Converts a fixture and runs its whole life, with a series of power cuts as in
/// [`Scenario::whole_life`].
///
/// # Errors
/// The conversion fails.
pub fn live_from_fixture(fixture: &Fixture, seed: u64) -> Result<Outcome, String> {
    let scenario = Scenario {
        page_bytes: PAGE_BYTES,
        pages: PAGES,
        pages_max: PAGES,
        zones: Zones::Few,
        buffer_bytes: BUFFER_BYTES,
        ..Scenario::whole_life(seed, fixture.policy)
    };
    let (image, last) = converted(fixture)?;
    let contents = on_device(&scenario, &image)?;
    let record = record(fixture.policy, last);
    // Everything in a closed store is durable.
    let promised = Promise { number: last, ..Promise::of_new(PAGES) };
    Ok(whole_life_from(&scenario, &Birth { contents, record, promised }))
}

/// Image of the converted, closed store, and its last batch.
fn converted(fixture: &Fixture) -> Result<(Vec<u8>, BatchNumber), String> {
    let convert = || {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let path = folder.path().join("pages.db");
        std::fs::write(&path, &fixture.image).map_err(|error| error.to_string())?;
        // Background tasks would make the image vary.
        let options = OpenOptions { drain_tasks: 0, gather_bytes: 0, ..OpenOptions::default() };
        let store = PageStore::open_with(&path, options).map_err(|error| error.to_string())?;
        let last = store.last_durable_batch();
        store.close().map_err(|error| error.to_string())?;
        Ok((std::fs::read(&path).map_err(|error| error.to_string())?, last))
    };
    convert().map_err(|error: String| format!("converting {}: {error}", fixture.name))
}

/// Copies a fixture to a device with enough room to recreate the store.
fn on_device(scenario: &Scenario, image: &[u8]) -> Result<Vec<Contents>, String> {
    let bytes = scenario.device_bytes().map_err(|error| error.to_string())?;
    let bytes = bytes.max(image.len() as u64).next_multiple_of(PIECE_BYTES as u64);
    let mut media = Media::new(bytes, scenario.logical_block_bytes);
    let arena = Arena::new(PIECE_BYTES).map_err(|error| error.to_string())?;
    for (index, piece) in (0..).zip(image.chunks(PIECE_BYTES)) {
        let mut buffer = arena.allocate(piece.len()).map_err(|error| error.to_string())?;
        buffer.copy_from_slice(piece);
        let mut write = Operation::write(index * PIECE_BYTES as u64, buffer.freeze());
        let id = media.begin(&write).map_err(|cause| cause.to_string())?;
        media.complete(id, &mut write).result.map_err(|error| error.to_string())?;
    }
    Ok(vec![media.fork().contents().clone()])
}

/// Record with the fixture's pages as the base of all batches.
fn record(policy: PolicyKind, last: BatchNumber) -> Record {
    let versions: BTreeMap<u64, u64> = versions().collect();
    let page = |page: u64| match versions.get(&page) {
        Some(version) => Page::blank().after(Change::Put(FIXTURE_VERSIONS + version), true),
        None if page == DISCARDED => Page::unknown(),
        None => Page::blank(),
    };
    let base = (0..PAGES).map(page).collect();
    Record::new(policy, base, 1, Growth::of(PAGES, Page::blank()), last)
}
