//! Published figures of RAID controllers of 2008 to 2012, compared with the modelled one: the rate
//! of small requests, the cost of RAID levels, and a full write-back cache.
//!
//! Sources: HP, *Understanding endurance and performance characteristics of HP solid state drives*,
//! 2011 (Smart Array P410); HP, *HP Smart Array controllers and basic RAID performance factors*,
//! 2012 (P421); Wong, *Getting the most out of SSD arrays*, Electronic Design (LSI 9260-8i with and
//! without `FastPath`); Chang, *Dell PERC6 RAID controller performance*, 2008.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "test code")]

mod common;

use common::arrays::{KIB, RANDOM, build, megabytes_per_s};
use common::book::{Entry, Verdict};
use common::driver::{Load, run};
use common::patterns::Pattern;
use nandle_model::array::{Array, ArrayParameters, CacheParameters, Drive, LayoutParameters};
use nandle_model::library::{self, Model};
use nandle_model::timing::{TimedOperation, TimedRequest, Timing};

const STRIPED: LayoutParameters = LayoutParameters::Raid0 { chunk_bytes: 64 * KIB };
const MIRRORED: LayoutParameters = LayoutParameters::Raid10 { chunk_bytes: 64 * KIB };
const MIB: u64 = 1 << 20;

/// `drives` X25-E behind one controller without a cache, laid out by its hardware or by the host.
fn flash_array(drives: usize, hardware: LayoutParameters, software: LayoutParameters) -> ArrayParameters {
    let mut parameters = library::array("x25-e-4-1ctl").unwrap();
    parameters.software = software;
    parameters.controllers[0].hardware = hardware;
    parameters.controllers[0].cache = None;
    parameters.controllers[0].drives = vec!["x25-e-64".into(); drives];
    parameters
}

/// Rate of 4 KB requests, with enough in flight for all drives.
fn rate(parameters: &ArrayParameters, load: Load) -> f64 {
    let mut array = build(parameters);
    let area_bytes = array.capacity_bytes();
    run(&mut array, Load { depth: 256, requests: 40_000, warm_up: 2_000, area_bytes, ..load }, 0)
        .requests_per_s
}

#[test]
fn firmware_limits_the_rate_of_small_requests_and_raid_halves_it() {
    let reads = Load::read(RANDOM, 4 * KIB, 0);
    let [passed_through, raid] = [
        flash_array(6, LayoutParameters::Simple, STRIPED),
        flash_array(6, STRIPED, LayoutParameters::Simple),
    ]
    .map(|array| rate(&array, reads));
    Entry {
        id: "Controller rate",
        paper: "a P410 gets at most 50 000 to 60 000 requests/s done; FastPath, which passes requests through, makes an \
                array of SSDs almost twice as fast",
        precondition: "random reads of 4 KB at depth 256, six X25-E; passed through: simple volumes, striped by the host",
        tolerance: "50 000 to 60 000; 1.7 to 2.1 times that",
        model: format!("{raid:.0} IOPS as RAID 0 in hardware, {passed_through:.0} passed through"),
        verdict: Verdict::Encoded("command_ns and raid_command_ns of the controller are these two figures"),
    }
    .print();
    assert!((50e3..60e3).contains(&raid), "{raid}");
    assert!((1.7..2.1).contains(&(passed_through / raid)), "{passed_through} {raid}");
}

#[test]
fn a_mirrored_write_costs_the_firmware_two_commands() {
    let rates = |hardware| {
        let array = flash_array(8, hardware, LayoutParameters::Simple);
        [Load::read(RANDOM, 4 * KIB, 0), Load::write(Pattern::Sequential, 4 * KIB, 0)]
            .map(|load| rate(&array, load))
    };
    let ([striped_reads, striped_writes], [mirrored_reads, mirrored_writes]) =
        (rates(STRIPED), rates(MIRRORED));
    assert!((mirrored_reads / striped_reads - 1.0).abs() < 0.02, "{mirrored_reads} {striped_reads}");
    let expected = (8_300.0 + 8_400.0) / (8_300.0 + 2.0 * 8_400.0);
    assert!(
        (mirrored_writes / striped_writes / expected - 1.0).abs() < 0.02,
        "{mirrored_writes} {striped_writes}"
    );
}

#[test]
fn reads_and_writes_have_a_ceiling_each() {
    let mut parameters = flash_array(4, STRIPED, LayoutParameters::Simple);
    (parameters.controllers[0].read_bytes_per_s, parameters.controllers[0].write_bytes_per_s) =
        (100_000_000, 50_000_000);
    let seconds = |reads: u64, writes: u64| {
        let mut array = build(&parameters);
        let request =
            |id: u64, operation| TimedRequest { id, operation, offset_bytes: id * MIB, length_bytes: MIB };
        (0..reads).for_each(|id| array.arrive(0, request(id, TimedOperation::Read)));
        let write = TimedOperation::Write { durable: false };
        (reads..reads + writes).for_each(|id| array.arrive(0, request(id, write)));
        let mut completed = Vec::new();
        while let Some(next_ns) = array.next_event_ns() {
            array.advance(next_ns, &mut completed);
        }
        completed.iter().map(|completion| completion.completed_ns).max().unwrap() as f64 / 1e9
    };
    let [reads, writes, both] = [seconds(40, 0), seconds(0, 20), seconds(40, 20)];
    let expected = 40.0 * MIB as f64 / 100e6;
    assert!(
        (reads / expected - 1.0).abs() < 0.08 && (writes / expected - 1.0).abs() < 0.08,
        "{reads} {writes}"
    );
    assert!((0.95..1.1).contains(&(both / expected)), "they go different ways, but take {both} s together");
}

#[test]
fn a_cache_takes_streams_in_more_slowly_than_drives_are_written_through() {
    let through = flash_array(8, STRIPED, LayoutParameters::Simple);
    let mut back = through.clone();
    back.controllers[0].cache = library::array("x25-e-4-1ctl").unwrap().controllers[0].cache.clone();
    let stream = Load { depth: 32, ..Load::write(Pattern::Sequential, 256 * KIB, 0) };
    let [back, through] = [back, through].map(|array| megabytes_per_s(&array, stream));
    Entry {
        id: "Controller cache, streams",
        paper: "a PERC 6 writes a backup at 631 MB/s through its cache, at 354 MB/s with write-back",
        precondition: "256 KB in sequence at depth 32, eight X25-E, RAID 0 in hardware",
        tolerance: "5 % for write-back; through at least the 631 that were the disks' limit and at most the 820 of its link",
        model: format!("{through:.0} MB/s through, {back:.0} MB/s with write-back"),
        verdict: Verdict::Encoded(
            "the cache's bytes_per_s is the lower figure; the other was the disks' limit",
        ),
    }
    .print();
    assert!((back / 354.0 - 1.0).abs() < 0.05 && (631.0..821.0).contains(&through), "{back} {through}");
}

/// Twelve disks of 15 000 rpm as RAID 0 in hardware, as in the P421's figures.
fn twelve_disks(cache_bytes: Option<u64>) -> Array {
    let mut parameters = library::array("regola-raid10").unwrap();
    let controller = &mut parameters.controllers[0];
    controller.hardware = LayoutParameters::Raid0 { chunk_bytes: 256 * KIB };
    controller.cache =
        cache_bytes.map(|bytes| CacheParameters { bytes, ..controller.cache.clone().unwrap() });
    controller.drives = vec!["savvio-15k".into(); 12];
    let drive = |name: &str| {
        let timing = Model::named(name).unwrap().device().unwrap().timing;
        Drive { capacity_bytes: 146_000_000_000, timing }
    };
    let drives = parameters.drive_names().map(drive).collect();
    Array::new(&parameters, drives).unwrap()
}

#[test]
fn a_full_cache_falls_back_to_the_rate_of_the_drives() {
    let write = |cache_bytes, depth, requests, warm_up| {
        let mut array = twelve_disks(cache_bytes);
        let load = Load::write(RANDOM, 4 * KIB, array.capacity_bytes());
        run(&mut array, Load { depth, requests, warm_up, ..load }, 0)
    };
    let cache_bytes = Some(64 * MIB);
    let burst = write(cache_bytes, 1, 1_000, 0);
    let filling = write(cache_bytes, 32, 12_000, 0).requests_per_s;
    let full = write(cache_bytes, 32, 60_000, 30_000).requests_per_s;
    let alone = write(None, 768, 60_000, 30_000).requests_per_s;
    Entry {
        id: "Controller cache, full",
        paper: "a write completes in microseconds; under load the cache fills up and stays full most of the time",
        precondition: "random writes of 4 KB, RAID 0 of twelve disks, 64 MB of cache: one at a time; the first 48 MB and what \
                       follows 120 MB at depth 32; without the cache as many outstanding as the cache gives its drives",
        tolerance: "one at a time 10 to 100 µs; once full 1 to 2 times as fast as the disks alone, whose ways its order \
                    shortens, and a fiftieth to a fifth of the rate while it fills",
        model: format!(
            "{:.0} µs; {filling:.0} IOPS while it fills, {full:.0} once it is full; the disks alone {alone:.0}",
            burst.mean_latency_ns / 1e3
        ),
        verdict: Verdict::Met,
    }
    .print();
    assert!((10e3..100e3).contains(&burst.mean_latency_ns), "{burst:?}");
    assert!(
        (1.0..2.0).contains(&(full / alone)) && (0.02..0.2).contains(&(full / filling)),
        "{filling} {full} {alone}"
    );
}

#[test]
fn a_full_cache_makes_random_writes_of_disks_faster_than_reads() {
    let rate = |load: Load| {
        // 2 GiB, a tenth of which is for reads.
        let mut array = twelve_disks(Some(1_843 * MIB));
        let area_bytes = array.capacity_bytes();
        run(&mut array, Load { depth: 256, area_bytes, ..load }, 0).requests_per_s
    };
    let reads = rate(Load { requests: 20_000, warm_up: 4_000, ..Load::read(RANDOM, 4 * KIB, 0) });
    let writes = rate(Load { requests: 600_000, warm_up: 540_000, ..Load::write(RANDOM, 4 * KIB, 0) });
    Entry {
        id: "Controller cache, disks",
        paper: "RAID 0 of twelve disks of 15 000 rpm: 8 350 random writes/s and 4 850 random reads/s, because of the write \
                cache, whose writes are reordered",
        precondition: "4 KB over the whole array at depth 256, cache of 1.8 GB full, Savvio 15K (the paper leaves drive and \
                       area open)",
        tolerance: "25 % for both, 15 % for their ratio of 1.72",
        model: format!("{writes:.0} and {reads:.0} IOPS, {:.2} times", writes / reads),
        verdict: Verdict::Met,
    }
    .print();
    assert!(
        (writes / 8_350.0 - 1.0).abs() < 0.25 && (reads / 4_850.0 - 1.0).abs() < 0.25,
        "{writes} {reads}"
    );
    assert!((writes / reads / 1.72 - 1.0).abs() < 0.15, "{writes} {reads}");
}
