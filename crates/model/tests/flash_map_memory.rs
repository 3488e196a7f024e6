//! A controller whose memory is too small for the whole map: what reads pay, and when.
#![allow(clippy::unwrap_used, clippy::panic, reason = "test code")]

mod common;

use common::driver::{Load, run};
use common::patterns::Pattern;
use nandle_model::flash::parameters::MappingParameters;
use nandle_model::flash::{FlashDrive, FlashParameters};
use nandle_model::library;

const RANDOM: Pattern = Pattern::RandomGroups { group: 1 };

/// An X25-E of 2 GiB, used by a third, with memory for `map_bytes` of its map, which takes 2 MiB.
fn drive(map_bytes: u64) -> FlashDrive {
    let mut parameters: FlashParameters =
        library::flash("x25-e-64").unwrap().with_capacity_bytes(2 << 30).unwrap();
    let MappingParameters::Page(page) = &mut parameters.mapping else { panic!("a page map") };
    page.map_memory.as_mut().unwrap().bytes = map_bytes;
    let mut drive = FlashDrive::new(&parameters).unwrap();
    drive.fill_sequentially(0.35).unwrap();
    drive
}

/// Reads of the map and the mean latency, of random reads after a load of writes.
fn map_reads_after(drive: &mut FlashDrive, pattern: Pattern) -> (u64, f64) {
    let area_bytes = 700 << 20;
    let writes = Load { depth: 32, requests: area_bytes / 4_096, ..Load::write(pattern, 4_096, area_bytes) };
    let end_ns = run(drive, writes, 0).end_ns;
    let before = drive.stats().map_pages_read;
    let reads = Load { requests: 10_000, seed: 5, ..Load::read(RANDOM, 4_096, area_bytes) };
    let latency_ns = run(drive, reads, end_ns + 1_000_000_000).mean_latency_ns;
    (drive.stats().map_pages_read - before, latency_ns)
}

#[test]
fn scattered_data_is_looked_up_on_the_chips_as_often_as_memory_lacks() {
    let [(some, some_ns), (all, all_ns)] =
        [512 << 10, 2 << 20].map(|bytes| map_reads_after(&mut drive(bytes), RANDOM));
    // The used 700 MiB have 175 pages of map: each is read once, or 128 of them are there at a time.
    assert_eq!(all, 175);
    let expected = 10_000.0 * (1.0 - 128.0 / 175.0);
    assert!((some as f64 / expected - 1.0).abs() < 0.15, "{some} reads of the map, {expected:.0} expected");
    assert!(some_ns > all_ns * 1.05, "{some_ns} {all_ns}");
}

#[test]
fn data_in_order_needs_no_page_of_the_map() {
    let mut drive = drive(64 << 10);
    let (reads, _) = map_reads_after(&mut drive, Pattern::Sequential);
    // Runs end where superblocks do, and where cleaning has come between.
    assert!(reads < 500, "{reads} reads of the map for 10 000 reads");
}
