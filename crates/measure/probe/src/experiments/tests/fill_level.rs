use nandle_io::Nanos;
use nandle_profile::OperationKind;
use nandle_profile::experiments::{FillLevel, FillLevels};

use super::bench::run;

fn measure(drive: &str) -> FillLevels {
    let outcome = run(drive, "fill-level", Nanos::from_secs(150));
    outcome.result.unwrap();
    outcome.experiments.fill_level.unwrap().findings
}

fn change(level: &FillLevel, pattern: &str, operation: OperationKind) -> f64 {
    let row = level.changes.iter().find(|row| row.pattern == pattern && row.operation == operation);
    row.unwrap().change() * 100.0
}

/// C23, at 70 % full with 8 KiB: sequential reads −52 %, random reads −11 %, sequential writes −18
/// %, random writes −50 %.
#[test]
fn fragments_cost_a_page_map_what_they_cost_the_real_drive() {
    let found = measure("x25-e-64");
    let seventy = found.levels.iter().find(|level| (level.fill_share - 0.7).abs() < 0.01).unwrap();
    let of = |pattern, operation| change(seventy, pattern, operation);
    assert!((of("sequential", OperationKind::Read) + 52.0).abs() < 12.0, "{seventy:?}");
    assert!((of("random", OperationKind::Read) + 11.0).abs() < 12.0, "{seventy:?}");
    assert!((of("sequential", OperationKind::Write) + 18.0).abs() < 15.0, "{seventy:?}");
    assert!((of("random", OperationKind::Write) + 50.0).abs() < 15.0, "{seventy:?}");
    let writes: Vec<f64> =
        found.levels.iter().map(|level| change(level, "random", OperationKind::Write)).collect();
    assert!(writes.is_sorted_by(|emptier, fuller| *fuller < emptier - 5.0), "{writes:?}");
}

#[test]
fn a_block_map_keeps_what_is_read_in_order() {
    for level in measure("mtron-16").levels {
        for pattern in ["sequential", "random"] {
            assert!(change(&level, pattern, OperationKind::Read).abs() < 2.0, "{level:?}");
        }
    }
}

#[test]
fn a_disk_without_discards_is_skipped() {
    let outcome = run("barracuda-7200.10", "fill-level", Nanos::from_secs(150));
    assert!(outcome.experiments.fill_level.is_none());
    let skipped = outcome.experiments.skipped.iter().find(|skipped| skipped.name == "fill-level").unwrap();
    assert!(skipped.reason.contains("discard"), "{skipped:?}");
}
