//! Drives that fail during a probe, that fail flushes, and that run full.

use nandle_io::Nanos;

use crate::bench::{Bench, Outcome};

/// Result of an experiment on a library drive with the given faults.
fn on(model: &str, faults: &str, experiment: &str) -> Outcome {
    let file = tempfile::Builder::new().suffix(".toml").tempfile().unwrap();
    std::fs::write(file.path(), faults).unwrap();
    let spec = format!("model:{model}:faults={}", file.path().display());
    Bench::new(&spec, Nanos::from_secs(30)).conduct(experiment)
}

#[test]
fn a_flush_that_fails_ends_the_commits_and_what_was_timed_is_kept() {
    let faults = "[[fault]]\nkind = \"failed-flush\"\noperation = 900\nlasts = \"sticky\"\n\
                  [[fault]]\nkind = \"failed-flush\"\nper_million = 1000\nlasts = \"sticky\"\n";
    let outcome = on("x25-e-64", faults, "flush");
    let record = outcome.experiments.flush.unwrap();
    assert!(outcome.error.unwrap().to_string().contains("flush"), "the error says what failed");
    assert!(!record.complete && record.ended_by.unwrap().contains("flush"));
    assert!(!record.findings.commits.is_empty(), "earlier observations are kept");
    let observed = record.findings.commits.iter().map(|cost| cost.observations).max();
    assert!(observed < Some(1000), "nothing is written after a failed flush: {observed:?}");
}

#[test]
fn a_full_drive_is_reported() {
    let faults = "[[fault]]\nkind = \"no-space\"\nper_million = 2000\n";
    let outcome = on("x25-e-64", faults, "flush");
    let record = outcome.experiments.flush.unwrap();
    let reason = record.ended_by.unwrap();
    assert!(reason.contains("No space left"), "{reason}");
}

#[test]
fn a_drive_that_takes_no_more_writes_ends_the_interference() {
    let faults = "[[fault]]\nkind = \"failed-write\"\nper_million = 1000000\nlasts = \"sticky\"\n";
    let outcome = on("x25-e-64", faults, "interference");
    let record = outcome.experiments.interference.unwrap();
    assert!(outcome.error.is_some() && !record.complete, "{:?}", record.ended_by);
    assert!(record.findings.read_iops_max > 0.0, "the reads were measured");
    assert!(outcome.derived.interference.is_none());
}

/// One failing request in thousands doesn't end an experiment, but its figures aren't those of a
/// healthy drive.
#[test]
fn single_failures_are_counted_and_reported() {
    for kind in ["failed-write", "failed-read"] {
        let outcome =
            on("x25-e-64", &format!("[[fault]]\nkind = \"{kind}\"\nper_million = 300\n"), "interference");
        let record = outcome.experiments.interference.unwrap();
        let failed = record.failed.unwrap();
        assert!(failed.requests > 3 && failed.first_error.contains("Input/output error"), "{failed:?}");
        assert!(!record.complete && record.ended_by.is_none(), "a probe that is resumed measures it again");
        assert!(record.findings.cells.len() >= 4, "the rest was measured");
        let error = outcome.error.unwrap().to_string();
        assert!(error.contains(&format!("{} requests failed", failed.requests)), "{error}");
    }
}

#[test]
fn a_drive_in_good_health_has_no_failed_requests() {
    let outcome = on("x25-e-64", "", "flush");
    let record = outcome.experiments.flush.unwrap();
    assert_eq!((record.complete, record.failed), (true, None));
}
