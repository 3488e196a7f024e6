//! A current drive: the write cliff after its single-level region, and cleaning when nearly full.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "test code")]

mod common;

use common::driver::{Load, run};
use common::patterns::Pattern;
use nandle_model::flash::FlashDrive;
use nandle_model::library;
use nandle_model::timing::Timing;

const MIB: u64 = 1 << 20;

#[test]
fn writes_fall_off_a_cliff_and_recover_after_a_rest() {
    let parameters = library::flash("nvme-tlc").unwrap();
    let mut drive = FlashDrive::new(&parameters).unwrap();
    let write = |drive: &mut FlashDrive, mebibytes: u64, start_ns: u64| {
        let load = Load::write(Pattern::Sequential, 128 << 10, parameters.capacity_bytes);
        run(drive, Load { depth: 32, requests: mebibytes * 8, ..load }, start_ns)
    };
    let first = write(&mut drive, 2_000, 0);
    let more = write(&mut drive, 4_000, first.end_ns);
    let behind = write(&mut drive, 2_000, more.end_ns);
    assert!(first.megabytes_per_s() > 4_500.0, "{first:?}");
    assert!((1_800.0..2_600.0).contains(&behind.megabytes_per_s()), "{behind:?}");
    let rested_ns = behind.end_ns + 60_000_000_000;
    drive.advance(rested_ns, &mut Vec::new());
    let rested = write(&mut drive, 2_000, rested_ns);
    assert!(rested.megabytes_per_s() > 4_500.0, "{rested:?}");
}

/// The single-level region uses the drive's own flash, so a full drive has little of it.
#[test]
fn the_fast_region_gives_way_to_data() {
    let parameters = library::flash("nvme-tlc").unwrap();
    let speed = |filled| {
        let mut drive = FlashDrive::new(&parameters).unwrap();
        drive.fill_sequentially(filled).unwrap();
        let load = Load::write(Pattern::Sequential, 128 << 10, parameters.capacity_bytes);
        run(&mut drive, Load { depth: 32, requests: 2_000 * 8, ..load }, 0).megabytes_per_s()
    };
    let (empty, full) = (speed(0.5), speed(1.0));
    assert!(empty > 4_500.0 && full < 3_500.0, "half full {empty} MB/s, full {full} MB/s");
}

#[test]
fn random_writes_at_ninety_percent_amplify_two_to_five_times() {
    let parameters = library::flash("nvme-plp").unwrap().with_capacity_bytes(8_192 * MIB).unwrap();
    let mut drive = FlashDrive::new(&parameters).unwrap();
    drive.fill_sequentially(0.9).unwrap();
    let area_bytes = parameters.capacity_bytes / 10 * 9;
    let load = Load { depth: 256, ..Load::write(Pattern::RandomGroups { group: 1 }, 4096, area_bytes) };
    let warm = run(&mut drive, Load { requests: area_bytes / 4096, ..load }, 0);
    let before = drive.stats();
    run(&mut drive, Load { requests: area_bytes / 8192, seed: 2, ..load }, warm.end_ns);
    let after = drive.stats();
    let moved = (after.moved_units - before.moved_units) as f64;
    let amplification = 1.0 + moved / (after.host_written_units - before.host_written_units) as f64;
    assert!((2.0..5.0).contains(&amplification), "{amplification}");
}

#[test]
fn reads_interrupt_programming() {
    let mean_ms = |suspend_ns: Option<u64>| {
        let mut parameters = library::flash("nvme-plp").unwrap();
        parameters.chips.suspend_ns = suspend_ns;
        let mut drive = FlashDrive::new(&parameters).unwrap();
        drive.fill_sequentially(1.0).unwrap();
        let area_bytes = parameters.capacity_bytes;
        let writes = Load::write(Pattern::RandomGroups { group: 1 }, 4096, area_bytes);
        let end_ns = run(&mut drive, Load { depth: 64, requests: 40_000, ..writes }, 0).end_ns;
        let reads = Load::read(Pattern::RandomGroups { group: 1 }, 4096, area_bytes);
        // Few reads, so that the dies are still programming.
        run(&mut drive, Load { requests: 8, ..reads }, end_ns).mean_latency_ms()
    };
    let (interrupting, waiting) = (mean_ms(Some(20_000)), mean_ms(None));
    assert!(interrupting < 0.15 && waiting > 1.25 * interrupting, "{interrupting} {waiting}");
}
