use nandle_io::Nanos;
use nandle_profile::experiments::{InterferenceCell, InterferenceMap};

use crate::bench::{Bench, Outcome};

fn on(model: &str) -> Outcome {
    let outcome = Bench::new(&format!("model:{model}"), Nanos::from_secs(60)).conduct("interference");
    assert!(outcome.error.is_none(), "{model}: {:?}", outcome.error);
    outcome
}

fn map(outcome: &Outcome) -> &InterferenceMap {
    &outcome.experiments.interference.as_ref().unwrap().findings
}

fn cell(map: &InterferenceMap, read_share: f64, write_share: f64) -> &InterferenceCell {
    let is_it = |cell: &&InterferenceCell| {
        (cell.read_share - read_share).abs() < 1e-9 && (cell.write_share - write_share).abs() < 1e-9
    };
    map.cells.iter().find(is_it).unwrap()
}

#[test]
fn a_few_writes_ruin_the_reads_of_a_drive_that_merges() {
    // mtron-16 does one command at a time, and a random write merges superblocks for milliseconds (uFLIP).
    let outcome = on("mtron-16");
    let slowdown = cell(map(&outcome), 0.5, 0.25).read_slowdown.unwrap();
    assert!(slowdown.quantile > 0.98 && slowdown.ratio.value > 5.0, "{slowdown:?}");
    let limit = outcome.derived.interference.unwrap();
    assert!(limit.write_share.value < 0.1, "{limit:?}");
}

#[test]
fn a_data_centre_drive_takes_half_its_writes_beside_half_its_reads() {
    let (plp, tlc) = (on("nvme-plp"), on("nvme-tlc"));
    let limit = plp.derived.interference.unwrap();
    assert!((0.25..=0.5).contains(&limit.write_share.value), "{limit:?}");
    assert!(limit.write_rate_per_s.value > 0.2 * map(&plp).write_iops_max);
    // Its programming of 0.9 ms beside 1.9 ms once the single-level region is full.
    assert!(tlc.derived.interference.unwrap().write_share.value <= limit.write_share.value);
    for outcome in [&plp, &tlc] {
        assert!(cell(map(outcome), 0.25, 0.05).rates_kept, "a quarter and a twentieth");
        assert!(!cell(map(outcome), 0.9, 0.9).rates_kept, "nothing gives 180 %");
    }
}

#[test]
fn a_disk_is_measured_in_few_cells_and_says_which_quantile_it_has() {
    let outcome = on("barracuda-7200.10");
    let map = map(&outcome);
    assert_eq!(map.cells.len(), 15);
    assert!(cell(map, 0.25, 0.0).rates_kept, "{:?}", cell(map, 0.25, 0.0));
    assert!(
        map.cells.iter().all(|cell| cell.read_latency_ns.p99.is_none()),
        "hundreds of reads are no 99th percentile"
    );
    assert!(outcome.derived.interference.unwrap().quantile < 0.95);
}

#[test]
fn latency_grows_with_the_rate_of_writes() {
    let outcome = on("x25-e-64");
    let p99 = |write_share| cell(map(&outcome), 0.5, write_share).read_latency_ns.p99.unwrap();
    assert!(
        p99(0.0) < p99(0.5) && p99(0.25) < p99(0.9),
        "{} {} {} {}",
        p99(0.0),
        p99(0.25),
        p99(0.5),
        p99(0.9)
    );
}

#[test]
fn the_real_disk_has_a_map() {
    let outcome = Bench::on_disk(Nanos::from_secs(20)).conduct("interference");
    let record = outcome.experiments.interference.as_ref().unwrap();
    assert!(record.complete, "{:?}", record.ended_by);
    assert!(record.findings.cells.len() >= 15 && record.bytes_written > 0);
    assert!(record.findings.cells.iter().all(|cell| cell.read_latency_ns.max.is_some()));
}
