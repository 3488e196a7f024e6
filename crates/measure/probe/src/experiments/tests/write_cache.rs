use nandle_io::Nanos;
use nandle_profile::OperationKind;
use nandle_profile::experiments::WriteCacheFindings;

use super::bench::run;

fn measure(drive: &str) -> WriteCacheFindings {
    let outcome = run(drive, "write-cache", Nanos::from_secs(60));
    outcome.result.unwrap();
    outcome.experiments.write_cache.unwrap().findings
}

#[test]
fn a_region_of_single_level_cells_absorbs_what_its_free_flash_holds() {
    let found = measure("nvme-tlc");
    let absorbed = found.absorbed_bytes.unwrap();
    // The drive is full. Its fast region is the spare tenth of 32 GiB, with one bit per cell where
    // data has three.
    assert!((768 << 20..1280 << 20).contains(&absorbed.value), "{absorbed:?}");
    let (first, last) = (found.absorbing_bytes_per_s.unwrap(), found.sustained_bytes_per_s.unwrap());
    assert!(first.low > last.high * 1.5, "{first:?} {last:?}");
}

#[test]
fn a_disk_absorbs_what_its_buffer_holds() {
    let found = measure("barracuda-7200.10");
    assert!(found.absorbed_bytes.unwrap().value <= 16 << 20, "{found:?}");
    assert!(found.flush_of_full_cache_ns.unwrap() > 10_000_000, "a full buffer goes to many places");
}

#[test]
fn a_drive_without_a_cache_absorbs_nothing_and_has_no_settings() {
    let found = measure("mtron-16");
    assert!(found.absorbed_bytes.is_none() && found.drain_ns.is_none() && found.settings.is_empty());
}

/// C20: write latencies of 0.059 and 0.113 ms with the cache on, 0.455 and 0.435 ms with it off;
/// reads are unaffected.
#[test]
fn cache_on_and_off_differ_as_on_the_real_drive() {
    let found = measure("x25-e-64");
    let mean = |cache_on, pattern: &str, operation| {
        let row = found.settings.iter().find(|row| {
            (row.cache_on, row.pattern.as_str(), row.operation) == (cache_on, pattern, operation)
        });
        row.unwrap().latency_ns.mean.unwrap() / 1e6
    };
    for pattern in ["sequential", "random"] {
        let (on, off) =
            (mean(true, pattern, OperationKind::Write), mean(false, pattern, OperationKind::Write));
        assert!((0.04..0.15).contains(&on) && (0.3..0.6).contains(&off), "{pattern}: {on} {off}");
        let reads = mean(false, pattern, OperationKind::Read) / mean(true, pattern, OperationKind::Read);
        assert!((0.95..1.05).contains(&reads), "{pattern}: {reads}");
    }
}
