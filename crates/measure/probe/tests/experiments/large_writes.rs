//! Bandwidth of large sequential writes with several outstanding.

use nandle_io::Nanos;

use crate::bench::Bench;

/// The data sheet states 170 MB/s of sequential writes; FlashyDB measured 189 (C21).
#[test]
fn large_writes_at_depth_give_what_the_data_sheet_says() {
    let outcome = Bench::new("model:x25-e-64", Nanos::from_secs(15)).conduct("large-writes");
    assert!(outcome.error.is_none(), "{:?}", outcome.error);
    let conducted = outcome.experiments.large_writes.unwrap();
    assert!(conducted.complete, "{:?}", conducted.ended_by);
    let cells = &conducted.findings.cells;
    let sizes: Vec<_> = cells.iter().map(|cell| (cell.block_bytes >> 10, cell.queue_depth)).collect();
    assert_eq!(sizes, [(32, 16), (128, 16), (512, 16), (1024, 16), (1024, 1), (1024, 4)]);
    let best = outcome.derived.sequential_write_bandwidth_bytes_per_s_max.unwrap();
    assert!((150e6..230e6).contains(&best.value), "{best:?}");
    for cell in cells {
        let rate = &cell.bandwidth_bytes_per_s;
        assert!(rate.low <= rate.value && rate.value <= rate.high && rate.low > 0.0, "{cell:?}");
        assert!(cell.requests >= 16 && rate.value <= best.value, "{cell:?}");
    }
}

/// Single small writes underestimate the bandwidth of a drive with a queue.
#[test]
fn an_nvme_drive_writes_more_at_depth_than_one_small_write_at_a_time() {
    let outcome = Bench::new("model:nvme-tlc:state=50%", Nanos::from_secs(15)).conduct("large-writes");
    let large = outcome.derived.sequential_write_bandwidth_bytes_per_s_max.unwrap();
    let outcome = Bench::new("model:nvme-tlc:state=50%", Nanos::from_secs(40)).conduct("write-patterns");
    let patterns = outcome.experiments.write_patterns.unwrap().findings.patterns;
    let small = patterns.iter().filter(|row| row.pattern == "sequential" && row.queue_depth == 1);
    let rate =
        |row: &nandle_profile::experiments::PatternCost| row.block_bytes as f64 / row.request_ns.value * 1e9;
    let alone = small.filter(|row| row.block_bytes == 32 << 10).map(rate).fold(0.0, f64::max);
    assert!(large.value > 1.5 * alone && large.low > 1.1 * alone, "{large:?} and {alone}");
}

#[test]
fn no_more_is_written_than_was_allowed() {
    let bench = Bench { write_limit_bytes: 256 << 20, ..Bench::new("model:mtron-16", Nanos::from_secs(15)) };
    let conducted = bench.conduct("large-writes").experiments.large_writes.unwrap();
    assert!(conducted.bytes_written <= 256 << 20 && conducted.complete, "{conducted:?}");
    let bench = Bench { write_limit_bytes: 1 << 20, ..Bench::new("model:mtron-16", Nanos::from_secs(15)) };
    let conducted = bench.conduct("large-writes").experiments.large_writes.unwrap();
    assert!(conducted.ended_by.unwrap().contains("--write-limit"));
    assert_eq!(conducted.bytes_written, 0);
}
