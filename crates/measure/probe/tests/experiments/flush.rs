use nandle_io::Nanos;
use nandle_probe::load::LoadError;
use nandle_profile::experiments::{CommitCost, CommitMethod, ExtentState, FlushCosts};

use crate::bench::{Bench, Outcome};

fn on(model: &str) -> Outcome {
    let outcome = Bench::new(&format!("model:{model}"), Nanos::from_secs(30)).conduct("flush");
    assert!(outcome.error.is_none(), "{model}: {:?}", outcome.error);
    outcome
}

fn found(outcome: &Outcome) -> &FlushCosts {
    &outcome.experiments.flush.as_ref().unwrap().findings
}

fn median_us(costs: &FlushCosts, method: CommitMethod, write_bytes: u64) -> f64 {
    let cost = costs.commits.iter().find(|cost| cost.method == method && cost.write_bytes == write_bytes);
    cost.unwrap().commit_ns.value / 1e3
}

fn assert_between(got: f64, low: f64, high: f64, what: &str) {
    assert!((low..=high).contains(&got), "{what}: {got}, expected {low} to {high}");
}

#[test]
fn a_disk_turns_once_for_each_commit_and_a_group_commits_together() {
    let outcome = on("barracuda-7200.10");
    let costs = found(&outcome);
    // At 7200 revolutions per minute the next sector arrives after 8.33 ms (Enterprise: 8.1 ms for
    // a commit of TPC-B).
    for method in [CommitMethod::WriteThenFlush, CommitMethod::DurableWrite] {
        assert_between(median_us(costs, method, 8192), 8300.0, 8500.0, "one turn");
        assert_between(median_us(costs, method, 512), 8300.0, 8500.0, "the size hardly matters");
    }
    let gain = outcome.derived.group_commit.unwrap();
    assert_between(gain.alone_per_s.value, 117.0, 121.0, "commits per second of one writer");
    let eight = costs.group_commit.iter().find(|group| group.writers == 8).unwrap();
    assert!(eight.commits_per_s.low > 7.0 * gain.alone_per_s.high, "eight share one turn: {eight:?}");
    assert!(gain.writers.value >= 64, "{gain:?}");
}

#[test]
fn capacitors_make_a_flush_empty() {
    let outcome = on("nvme-plp");
    let costs = found(&outcome);
    // A durable write needs no flash operation: 8 us of firmware and its processor, the link, and 2
    // us of the host.
    assert_between(median_us(costs, CommitMethod::DurableWrite, 8192), 10.0, 15.0, "a durable write");
    let flush = costs.commits.iter().find(|cost| cost.method == CommitMethod::WriteThenFlush).unwrap();
    let flush_ns = flush.flush_latency_ns.unwrap().p99.unwrap();
    assert!((14_000..17_000).contains(&flush_ns), "5 us and the pipeline, nothing more: {flush_ns}");
    let soonest = outcome.derived.flush_ns.unwrap();
    assert_eq!((soonest.method, soonest.write_bytes), (CommitMethod::DurableWrite, 8192));
}

#[test]
fn a_volatile_cache_makes_a_commit_wait_for_the_cells() {
    // A half-full drive has hardly any single-level region.
    let (tlc, plp) = (on("nvme-tlc:state=50%"), on("nvme-plp"));
    // Programming a single-level cell takes 200 us, and the groups' writes fill that region. So the
    // interval extends up to the time of a commit after that.
    let commits = &found(&tlc).commits;
    let durable = |cost: &&CommitCost| cost.method == CommitMethod::DurableWrite && cost.write_bytes == 8192;
    let commit_ns = commits.iter().find(durable).unwrap().commit_ns;
    assert_between(commit_ns.low / 1e3, 200.0, 350.0, "a commit at first");
    assert_between(commit_ns.high / 1e3, 1000.0, 2500.0, "and later");
    let ratio = tlc.derived.flush_ns.unwrap().median_ns.value / plp.derived.flush_ns.unwrap().median_ns.value;
    assert!(ratio > 10.0, "gain by capacitors: {ratio}");
}

#[test]
fn slow_cards_and_drives_that_write_through() {
    // 1 ms for the program operation, and 0.2 ms for the journal of the map.
    assert_between(
        median_us(found(&on("sd-card")), CommitMethod::DurableWrite, 8192),
        1500.0,
        2500.0,
        "card",
    );
    // A write waits for its program operation anyway, so a flush only adds its command.
    let mtron = on("mtron-16");
    let costs = found(&mtron);
    let write = median_us(costs, CommitMethod::DurableWrite, 8192);
    assert_between(
        median_us(costs, CommitMethod::WriteThenFlush, 8192) - write,
        95.0,
        110.0,
        "flush of mtron-16",
    );
}

#[test]
fn quantiles_have_the_observations_that_they_need() {
    for cost in &found(&on("x25-e-64")).commits {
        assert_eq!(cost.latency_ns.p99.is_some(), cost.observations >= 1000, "{cost:?}");
        assert!(cost.commit_ns.low <= cost.commit_ns.value && cost.commit_ns.value <= cost.commit_ns.high);
    }
}

#[test]
fn equal_seeds_give_equal_findings() {
    assert_eq!(found(&on("x25-e-64")), found(&on("x25-e-64")));
}

#[test]
fn the_real_disk_and_its_files() {
    let outcome = Bench::on_disk(Nanos::from_secs(12)).conduct("flush");
    let record = outcome.experiments.flush.as_ref().unwrap();
    assert!(record.complete, "{:?} {:?}", record.ended_by, outcome.error);
    let costs = found(&outcome);
    for extent in [ExtentState::Overwritten, ExtentState::Extended, ExtentState::Unwritten] {
        for method in [CommitMethod::DurableWrite, CommitMethod::Fdatasync, CommitMethod::Fsync] {
            let wanted = |cost: &&nandle_profile::experiments::CommitCost| {
                cost.in_file && cost.extent == extent && cost.method == method
            };
            let cost = costs.commits.iter().find(wanted).unwrap();
            assert!(cost.observations >= 3 && cost.commit_ns.low > 0.0, "{cost:?}");
        }
    }
    assert!(costs.group_commit.len() >= 8 && costs.each_durable.len() >= 8);
    assert!(outcome.derived.flush_ns.is_some() && outcome.derived.group_commit.is_some());
    assert!(record.bytes_written > 0);
}

#[test]
fn the_write_limit_holds_and_partial_findings_are_kept() {
    let with = |write_limit_bytes| {
        let bench = Bench::new("model:x25-e-64", Nanos::from_secs(30));
        let outcome = Bench { write_limit_bytes, ..bench }.conduct("flush");
        let record = outcome.experiments.flush.unwrap();
        assert!(record.bytes_written <= write_limit_bytes && !record.findings.commits.is_empty());
        record
    };
    assert!(with(256 << 20).complete, "fewer commits of the large ones are enough");
    let short = with(4 << 20);
    assert!(!short.complete && short.ended_by.as_ref().unwrap().contains("--write-limit"), "{short:?}");
}

#[test]
fn commits_in_files_that_fail_are_counted_and_the_others_go_on() {
    let faults = tempfile::Builder::new().suffix(".toml").tempfile().unwrap();
    let fault = "[[fault]]\nkind = \"failed-write\"\noperation = 300\nlasts = \"sticky\"\n";
    std::fs::write(faults.path(), fault).unwrap();
    let files =
        Bench::new(&format!("model:x25-e-64:faults={}", faults.path().display()), Nanos::from_secs(1));
    let bench = Bench::new("model:x25-e-64", Nanos::from_secs(30));
    let outcome = Bench { files: Some(files.target), ..bench }.conduct("flush");
    let record = outcome.experiments.flush.as_ref().unwrap();
    assert!(record.failed.as_ref().is_some_and(|failed| failed.requests > 0), "{:?}", record.ended_by);
    assert!(!record.complete && record.ended_by.as_ref().unwrap().contains("test file"), "{record:?}");
    assert!(matches!(outcome.error, Some(LoadError::SomeFailed { .. })), "{:?}", outcome.error);
    assert!(
        record.findings.commits.iter().any(|cost| !cost.in_file) && !record.findings.group_commit.is_empty()
    );
}
