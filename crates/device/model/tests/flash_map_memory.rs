//! Controller memory that is too small for the whole map: its cost for reads and writes.
#![allow(clippy::unwrap_used, clippy::panic, reason = "test code")]

mod common;

use common::driver::{Load, run};
use common::patterns::Pattern;
use nandle_model::flash::parameters::{MapMemoryParameters, MappingParameters};
use nandle_model::flash::{FlashDrive, FlashParameters};
use nandle_model::library;

const RANDOM: Pattern = Pattern::RandomGroups { group: 1 };

/// X25-E of 2 GiB, one third used, with memory for `map_bytes` of its 2 MiB map.
fn drive(map_bytes: u64) -> FlashDrive {
    let mut parameters: FlashParameters =
        library::flash("x25-e-64").unwrap().with_capacity_bytes(2 << 30).unwrap();
    let MappingParameters::Page(page) = &mut parameters.mapping else { panic!("a page map") };
    page.map_memory = Some(MapMemoryParameters { bytes: map_bytes, run_bytes: 64 << 10 });
    let mut drive = FlashDrive::new(&parameters).unwrap();
    drive.fill_sequentially(0.35).unwrap();
    drive
}

/// Number of map reads, and mean latency, of random reads after a load of writes.
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
    // The used 700 MiB have 175 pages of map. With the larger memory each was read once, when the
    // writes changed it; the smaller holds 128 of them.
    assert_eq!(all, 0);
    let expected = 10_000.0 * (1.0 - 128.0 / 175.0);
    assert!((some as f64 / expected - 1.0).abs() < 0.15, "{some} reads of the map, {expected:.0} expected");
    assert!(some_ns > all_ns * 1.05, "{some_ns} {all_ns}");
}

#[test]
fn data_in_order_needs_no_page_of_the_map() {
    let mut drive = drive(64 << 10);
    let (reads, _) = map_reads_after(&mut drive, Pattern::Sequential);
    // Runs end at superblock boundaries, and where cleaning has intervened.
    assert!(reads < 500, "{reads} reads of the map for 10 000 reads");
}

/// The map of the used 700 MiB has 175 pages, of which 128 are in memory. A random write that
/// misses evicts a changed page.
#[test]
fn scattered_writes_read_and_write_the_map() {
    let mut drive = drive(512 << 10);
    let area_bytes = 700 << 20;
    let writes = Load { depth: 32, requests: 20_000, ..Load::write(RANDOM, 4_096, area_bytes) };
    let warm_ns = run(&mut drive, writes, 0).end_ns;
    let before = drive.stats();
    run(&mut drive, Load { seed: 2, ..writes }, warm_ns);
    let after = drive.stats();
    assert_eq!(after.moved_units, 0, "nothing is cleaned yet");
    let [read, written] =
        [after.map_pages_read - before.map_pages_read, after.map_units_written - before.map_units_written];
    let expected = 20_000.0 * (1.0 - 128.0 / 175.0);
    assert!((read as f64 / expected - 1.0).abs() < 0.15, "{read} reads of the map, {expected:.0} expected");
    assert!(written.abs_diff(read) <= 1, "{written} pages of the map written, {read} read");
    assert!(after.write_amplification().unwrap() > 1.2, "{after:?}");
}

#[test]
fn writes_in_order_leave_the_map_alone() {
    let mut drive = drive(512 << 10);
    let area_bytes = 700 << 20;
    let pages = area_bytes / 4_096;
    run(
        &mut drive,
        Load { depth: 32, requests: pages, ..Load::write(Pattern::Sequential, 4_096, area_bytes) },
        0,
    );
    let stats = drive.stats();
    assert!(stats.map_units_written <= pages / 1_024, "{stats:?}");
}

/// Each fragment costs a processor operation, regardless of the commands' length.
#[test]
fn pieces_cost_processor_time_in_long_reads_too() {
    let megabytes_per_s = |fragment_ns| {
        let mut parameters = library::flash("x25-e-64").unwrap().with_capacity_bytes(2 << 30).unwrap();
        parameters.firmware.fragment_ns = fragment_ns;
        let mut drive = FlashDrive::new(&parameters).unwrap();
        drive.fill_sequentially(0.5).unwrap();
        let area_bytes = 1 << 30;
        let reads =
            Load { depth: 4, requests: 2_000, ..Load::read(Pattern::Sequential, 128 << 10, area_bytes) };
        let fresh = run(&mut drive, reads, 0);
        let writes = Load { depth: 32, requests: 300_000, ..Load::write(RANDOM, 4_096, area_bytes) };
        let worn_ns = run(&mut drive, writes, fresh.end_ns).end_ns;
        let worn = run(&mut drive, reads, worn_ns + 1_000_000_000);
        (fresh.megabytes_per_s(), worn.megabytes_per_s())
    };
    let ((free_fresh, free_worn), (fresh, worn)) = (megabytes_per_s(0), megabytes_per_s(20_000));
    assert!((fresh / free_fresh - 1.0).abs() < 0.02, "in order: {fresh} MB/s, without {free_fresh}");
    // 32 fragments of 4 KB at 20 µs each: 205 MB/s. The first is free, hence the margin.
    assert!(worn < 205.0 * 1.05 && worn < 0.9 * free_worn, "in pieces: {worn} MB/s, without {free_worn}");
}
