//! Determinism; saving and loading of aged drives; size of the tables.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "test code")]

mod common;

use std::hash::{DefaultHasher, Hash, Hasher};

use common::driver::{Load, run};
use common::patterns::Pattern;
use nandle_model::flash::parameters::{CleaningPace, MappingParameters};
use nandle_model::flash::{AgedState, FlashDrive, FlashParameters, StateError};
use nandle_model::library::{self, Model};
use nandle_model::timing::{TimedCompletion, TimedOperation, TimedRequest, Timing};

const RANDOM: Pattern = Pattern::RandomGroups { group: 1 };

fn small(name: &str) -> FlashParameters {
    let mut parameters = library::flash(name).unwrap();
    parameters.chips.dies_per_channel = 1;
    parameters.with_capacity_bytes(3 << 29).unwrap()
}

/// Hash of every completion of a mixed load.
fn completions_hash(drive: &mut dyn Timing, seed: u64, start_ns: u64) -> u64 {
    let mut offsets = common::patterns::Offsets::new(RANDOM, 4096, 1 << 28, seed);
    let mut completed: Vec<TimedCompletion> = Vec::new();
    for id in 0..3_000 {
        let now_ns = start_ns + id * 40_000;
        while drive.next_event_ns().is_some_and(|event_ns| event_ns <= now_ns) {
            drive.advance(drive.next_event_ns().unwrap(), &mut completed);
        }
        let offset_bytes = offsets.next().unwrap();
        let operation = match offset_bytes / 4096 % 16 {
            0 => TimedOperation::Flush,
            1 => TimedOperation::Discard,
            2 => TimedOperation::Write { durable: true },
            3..8 => TimedOperation::Write { durable: false },
            _ => TimedOperation::Read,
        };
        let length_bytes = 512 << (offset_bytes / 65_536 % 12);
        drive.arrive(now_ns, TimedRequest { id, operation, offset_bytes, length_bytes });
    }
    while let Some(event_ns) = drive.next_event_ns() {
        drive.advance(event_ns, &mut completed);
    }
    let mut hasher = DefaultHasher::new();
    for done in &completed {
        (done.id, done.completed_ns).hash(&mut hasher);
    }
    assert_eq!(completed.len(), 3_000, "every request completes once");
    assert!(completed.is_sorted_by_key(|done| done.completed_ns));
    hasher.finish()
}

#[test]
fn equal_runs_are_equal_and_others_are_not() {
    for name in library::names() {
        let hash =
            |seed| completions_hash(Model::named(name).unwrap().device().unwrap().timing.as_mut(), seed, 0);
        assert_eq!(hash(1), hash(1), "{name}");
        assert_ne!(hash(1), hash(2), "{name}");
    }
}

#[test]
fn a_loaded_drive_goes_on_like_the_saved_one() {
    for name in ["x25-e-64", "mtron-16"] {
        let parameters = small(name);
        let mut drive = FlashDrive::new(&parameters).unwrap();
        drive.fill_sequentially(1.0).unwrap();
        let writes = Load { depth: 8, requests: 20_000, ..Load::write(RANDOM, 4096, 1 << 28) };
        let end_ns = run(&mut drive, writes, 0).end_ns;
        let text = serde_json::to_string(&drive.aged_state()).unwrap();
        let state: AgedState = serde_json::from_str(&text).unwrap();
        let mut loaded = FlashDrive::with_aged_state(&parameters, state).unwrap();
        assert_eq!(loaded.stats(), drive.stats());
        let much_later_ns = end_ns + 1_000_000_000_000;
        assert_eq!(
            completions_hash(&mut loaded, 5, much_later_ns),
            completions_hash(&mut drive, 5, much_later_ns),
            "{name}"
        );
    }
}

#[test]
fn a_state_takes_the_policies_it_is_loaded_with() {
    let mut parameters = small("x25-e-64");
    let aged_state = {
        let mut drive = FlashDrive::new(&parameters).unwrap();
        drive.fill_sequentially(1.0).unwrap();
        drive.aged_state()
    };
    let MappingParameters::Page(page) = &mut parameters.mapping else { panic!("a page-mapped drive") };
    page.pace = CleaningPace::Paced;
    let longest_ms = |parameters: &FlashParameters| {
        let mut drive = FlashDrive::with_aged_state(parameters, aged_state.clone()).unwrap();
        let writes = Load { requests: 60_000, ..Load::write(RANDOM, 4096, parameters.capacity_bytes) };
        run(&mut drive, writes, 0).max_latency_ms()
    };
    assert!(longest_ms(&parameters) < longest_ms(&small("x25-e-64")) / 2.0);
    let MappingParameters::Page(page) = &mut parameters.mapping else { panic!("a page-mapped drive") };
    page.raw_over_user = 1.2;
    assert!(FlashDrive::with_aged_state(&parameters, aged_state).is_err(), "another number of superblocks");
}

#[test]
fn a_state_of_another_drive_is_refused() {
    let state = FlashDrive::new(&small("x25-e-64")).unwrap().aged_state();
    let error = FlashDrive::with_aged_state(&small("x25-m-g2"), state).unwrap_err();
    assert!(matches!(error, StateError::OtherLayout { .. }), "{error}");
    assert!(error.to_string().contains("x25-e-64"), "{error}");
}

#[test]
fn a_big_drive_takes_no_memory_until_it_is_written() {
    let parameters = library::flash("nvme-plp").unwrap().with_capacity_bytes(4 << 40).unwrap();
    let mut drive = FlashDrive::new(&parameters).unwrap();
    drive.fill_sequentially(1.0).unwrap();
    let units = parameters.capacity_bytes / parameters.unit_bytes();
    assert!((drive.table_bytes() as u64) < units / 1_000, "{} bytes", drive.table_bytes());
}

#[test]
fn discarding_a_whole_big_drive_takes_neither_time_nor_memory() {
    let parameters = library::flash("nvme-plp").unwrap().with_capacity_bytes(4 << 40).unwrap();
    let length_bytes = parameters.capacity_bytes;
    for filled in [0.0, 1.0] {
        let mut drive = FlashDrive::new(&parameters).unwrap();
        drive.fill_sequentially(filled).unwrap();
        let discard =
            TimedRequest { id: 1, operation: TimedOperation::Discard, offset_bytes: 0, length_bytes };
        drive.arrive(0, discard);
        let tail = TimedRequest { offset_bytes: 3 << 40, length_bytes: length_bytes - (3 << 40), ..discard };
        drive.arrive(1, tail);
        assert!(drive.table_bytes() < 1 << 20, "{}", drive.table_bytes());
    }
}

#[test]
fn tables_take_at_most_sixteen_bytes_per_page_written() {
    let parameters = small("x25-m-g2");
    let mut drive = FlashDrive::new(&parameters).unwrap();
    let area_bytes = parameters.capacity_bytes;
    let units = area_bytes / 4096;
    run(&mut drive, Load { depth: 32, requests: 3 * units, ..Load::write(RANDOM, 4096, area_bytes) }, 0);
    let bytes_per_unit = drive.table_bytes() as f64 / units as f64;
    assert!(bytes_per_unit <= 16.0, "{bytes_per_unit}");
}

/// Paced cleaning is always in the middle of a superblock, whose last move has a time.
#[test]
fn the_clock_of_the_aging_is_not_kept() {
    let parameters = library::flash("nvme-plp").unwrap().with_capacity_bytes(8 << 30).unwrap();
    let mut drive = FlashDrive::new(&parameters).unwrap();
    drive.fill_sequentially(1.0).unwrap();
    let load = Load::write(Pattern::RandomGroups { group: 1 }, 4096, parameters.capacity_bytes);
    let worn = run(&mut drive, Load { depth: 64, requests: 600_000, ..load }, 0);
    assert!(worn.end_ns > 500_000_000, "{worn:?}");
    let mut again = FlashDrive::with_aged_state(&parameters, drive.aged_state()).unwrap();
    let longest_ms =
        run(&mut again, Load { depth: 64, requests: 20_000, seed: 2, ..load }, 0).max_latency_ms();
    assert!(longest_ms < 100.0, "{longest_ms} ms");
}
