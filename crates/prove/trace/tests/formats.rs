//! Sample inputs of every format, with results worked out by hand.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test's way to fail")]

use std::path::PathBuf;

use nandle_trace::{
    Columns, Format, Operation, ReadOptions, Reader, Record, Statistics, TraceError, TraceStatistics,
};

const MIB: u64 = 1 << 20;

fn fixture(name: &str) -> PathBuf {
    PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap()).join("tests/fixtures").join(name)
}

fn open(name: &str, options: &ReadOptions) -> Reader {
    Reader::open(&fixture(name), options).unwrap()
}

fn of_device(device: &str) -> ReadOptions {
    ReadOptions { device: Some(device.into()), ..Default::default() }
}

/// Operation, address and length of each event.
fn events(name: &str, options: &ReadOptions) -> Vec<(Operation, u64, u64)> {
    let records = open(name, options).map(Result::unwrap);
    records.map(|record| (record.operation, record.address, record.length_bytes)).collect()
}

fn times(name: &str) -> Vec<u64> {
    open(name, &ReadOptions::default()).map(|record| record.unwrap().time_us).collect()
}

fn statistics(records: impl Iterator<Item = Result<Record, TraceError>>) -> TraceStatistics {
    let mut statistics = Statistics::new(4096);
    records.for_each(|record| statistics.add(record.unwrap()).unwrap());
    statistics.finish()
}

fn stat(name: &str) -> TraceStatistics {
    statistics(open(name, &ReadOptions::default()))
}

#[test]
fn requeued_request_counts_once_and_forced_unit_access_is_durable() {
    let found = stat("blkparse-requeue-fua.txt");
    assert_eq!((found.reads, found.read_bytes), (1, 8192));
    assert_eq!((found.writes, found.discards), (3, 1));
    assert_eq!(found.syncs, 2, "a flush, and the durable write");
    let events = events("blkparse-requeue-fua.txt", &ReadOptions::default());
    let durable = events.iter().position(|event| *event == (Operation::Write, 8192 * 512, 4096)).unwrap();
    assert_eq!(events[durable + 1], (Operation::Sync, 8192 * 512, 4096));
}

#[test]
fn each_durable_write_has_a_sync_behind_it() {
    let found = stat("blkparse-fua-only.txt");
    assert_eq!((found.writes, found.syncs), (3, 3));
    assert_eq!(found.duration_us, 2000);
}

#[test]
fn a_flush_before_a_write_is_a_sync_before_it() {
    let events = events("blkparse-preflush.txt", &ReadOptions::default());
    let place = (8192 * 512, 4096);
    assert_eq!(
        events,
        [(Operation::Sync, 0, 0), (Operation::Write, place.0, place.1), (Operation::Sync, place.0, place.1)]
    );
}

#[test]
fn stacked_devices_count_queued_requests() {
    let events = events("blkparse-bio-only.txt", &ReadOptions::default());
    assert_eq!(
        events,
        [(Operation::Read, 385_152 * 512, 65_536), (Operation::Write, 101_991_040 * 512, 65_536)]
    );
    assert_eq!(times("blkparse-bio-only.txt"), [0, 35_672]);
}

#[test]
fn zoned_requests_have_their_own_kinds() {
    let events = events("blkparse-zoned.txt", &ReadOptions::default());
    let (zone, zone_bytes) = (256 * MIB, 256 * MIB);
    assert_eq!(
        events,
        [
            (Operation::Append, zone, 4096),
            (Operation::Append, zone, 4096),
            (Operation::ZoneReset, zone, zone_bytes),
            (Operation::ZoneFinish, 2 * zone, zone_bytes),
            (Operation::Write, 64 * 512, 4096),
        ]
    );
    let found = stat("blkparse-zoned.txt");
    assert_eq!((found.writes, found.reads, found.syncs, found.discards), (3, 0, 0, 0));
    let zones = found.zones;
    assert_eq!((zones.appends, zones.resets, zones.finishes, zones.opens, zones.closes), (2, 1, 1, 0, 0));
    assert_eq!(found.pages_distinct, 3, "the second append lies behind the first");
}

#[test]
fn backward_times_are_counted_and_the_span_covers_all_times() {
    let mut reader = open("blkparse-times-go-back.txt", &ReadOptions::default());
    let found = statistics(reader.by_ref());
    assert_eq!(found.duration_us, 1_100_001);
    let back = reader.backward_times();
    assert_eq!((back.events, back.first_line, back.back_us_max), (1, 3, 600_000));
}

#[test]
fn text_before_the_first_event_is_skipped() {
    let events = events("perf-first-event-other.txt", &ReadOptions::default());
    assert_eq!(events, [(Operation::Write, 367_296_632 * 512, 4096)]);
}

#[test]
fn a_trace_that_starts_late_lasts_from_its_first_event() {
    assert_eq!(stat("trace-unix-times.csv").duration_us, 5000);
    assert_eq!(times("trace-unix-times.csv"), [0, 1000, 5000]);
}

#[test]
fn msr_traces_are_read_with_a_header_and_compressed_by_gzip() {
    let header = open("msr-with-header.csv", &ReadOptions::default());
    assert_eq!((header.format(), header.lines_before()), (Format::Msr, 0));
    let latencies: Vec<_> = header.map(|record| record.unwrap().latency_ns).collect();
    assert_eq!(latencies, [Some(11_373_600), Some(6_195_400)]);
    let events = events("msr.csv.gz", &ReadOptions::default());
    let expected = [
        (Operation::Write, 7_014_609_920, 512),
        (Operation::Write, 7_014_610_432, 24_064),
        (Operation::Read, 7_014_609_920, 512),
    ];
    assert_eq!(events, expected);
    assert_eq!(times("msr.csv.gz"), [0, 1000, 2000]);
}

#[test]
fn published_formats_are_read_by_their_columns() {
    let alibaba = [(Operation::Write, 8_792_731_648, 16_384)];
    assert_eq!(events("trace-alibaba.csv", &of_device("419")), alibaba);
    assert_eq!(open("trace-alibaba.csv", &of_device("725")).format(), Format::Alibaba);
    let tencent = [
        (Operation::Read, 12_910_952 * 512, 65_536),
        (Operation::Write, 6_160_448 * 512, 4096),
        (Operation::Write, 6_160_456 * 512, 8192),
    ];
    assert_eq!(events("tencent.csv", &ReadOptions::default()), tencent);
    assert_eq!(times("tencent.csv"), [0, 0, 1_000_000]);
    let systor = [(Operation::Write, 66_080_768, 4096), (Operation::Read, 12_288, 8192)];
    assert_eq!(events("systor17.csv", &ReadOptions::default()), systor);
    assert_eq!(times("systor17.csv"), [0, 50_000]);
    let latencies: Vec<_> =
        open("systor17.csv", &ReadOptions::default()).map(|record| record.unwrap().latency_ns).collect();
    assert_eq!(latencies, [Some(201_000), None]);
    let spc = [(Operation::Write, 20_941_264 * 512, 8192), (Operation::Write, 20_939_840 * 512, 8192)];
    assert_eq!(events("trace-spc.csv", &ReadOptions::default()), spc);
    assert_eq!(times("trace-spc.csv"), [0, 2335]);
    let fiu = [(Operation::Write, 69_440_856 * 512, 4096), (Operation::Read, 69_440_864 * 512, 8192)];
    assert_eq!(events("fiu.txt", &of_device("6.0")), fiu);
    assert_eq!(times("fiu.txt"), [0, 1000]);
    let disksim = [(Operation::Write, 303_567 * 512, 8192), (Operation::Read, 55_590 * 512, 4096)];
    assert_eq!(events("trace-disksim-ascii.txt", &ReadOptions::default()), disksim);
    assert_eq!(times("trace-disksim-ascii.txt"), [0, 26]);
}

#[test]
fn trace_that_fits_two_formats_is_ambiguous() {
    let refused = Reader::open(&fixture("mqsim.txt"), &ReadOptions::default()).err().unwrap();
    let said = refused.to_string();
    assert!(said.contains("disksim-ascii") && said.contains("mqsim") && said.contains("--format"), "{said}");
    let named = ReadOptions { format: Some(Format::MqSim), ..Default::default() };
    let mqsim = [(Operation::Write, 303_567 * 512, 8192), (Operation::Read, 55_590 * 512, 4096)];
    assert_eq!(events("mqsim.txt", &named), mqsim);
}

#[test]
fn named_columns_read_any_trace() {
    let columns: Columns = "device=1,op=2,offset=3,bytes=4,time=5:us".parse().unwrap();
    let named = ReadOptions { format: Some(Format::Columns(columns)), ..of_device("725") };
    assert_eq!(events("trace-alibaba.csv", &named), [(Operation::Read, 59_110_326_272, 360_448)]);
    let columns: Columns = "op=2,offset=3,bytes=4,time=5:us".parse().unwrap();
    let flat = ReadOptions { format: Some(Format::Columns(columns)), ..Default::default() };
    assert_eq!(events("trace-alibaba.csv", &flat).len(), 2, "columns without a device are one flat space");
}
