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
fn a_few_writes_slow_the_reads_of_a_drive_that_merges() {
    // mtron-16 serves one command at a time, and a random write merges superblocks for milliseconds
    // (uFLIP).
    let outcome = on("mtron-16");
    let slowdown = cell(map(&outcome), 0.5, 0.25).read_slowdown.unwrap();
    assert!(slowdown.quantile > 0.98 && slowdown.ratio.value > 5.0, "{slowdown:?}");
    let limit = outcome.derived.interference.unwrap();
    assert!(limit.write_share.value < 0.1, "{limit:?}");
}

/// Reads wait for suspended programs and for erase operations of 5 ms. With more than a quarter of
/// the writes, these affect the 99th percentile.
#[test]
fn drives_that_clean_take_few_writes_during_half_their_reads() {
    for model in ["nvme-plp", "nvme-tlc"] {
        let outcome = on(model);
        let limit = outcome.derived.interference.unwrap();
        assert!(
            (0.1..=0.25).contains(&limit.write_share.value) && limit.write_share.high <= 0.25,
            "{model}: {limit:?}"
        );
        let map = map(&outcome);
        assert!(cell(map, 0.25, 0.1).rates_kept, "{model}: a quarter and a tenth");
        // The host limits reads alone, so nearly all of both fit; but then reads wait for writes.
        let both = cell(map, 0.9, 0.9);
        let slowdown = both.read_slowdown.unwrap();
        assert!(!both.rates_kept || slowdown.ratio.low > 10.0, "{model}: {both:?}");
        let slowdown = cell(map, 0.5, 0.25).read_slowdown.unwrap();
        assert!(slowdown.ratio.low > 1.5, "{model}: {slowdown:?}");
    }
}

/// The peak write rate is that of a drive with garbage collection: at most the bandwidth of its
/// chips divided by the write amplification. Greedy collection with 12.7 % spare has a factor of
/// about 4 for random writes (Desnoyers, SYSTOR 2012), and the chips reach 4.1 GB/s.
#[test]
fn a_modelled_drive_is_watched_when_its_spare_blocks_are_used_up() {
    let outcome = on("nvme-plp");
    let map = map(&outcome);
    let bytes_per_s = map.write_iops_max * map.write_block_bytes as f64;
    assert!((0.5e9..1.3e9).contains(&bytes_per_s), "{bytes_per_s}");
}

/// Longer slices meet more garbage collection, but the conclusion must not change.
#[test]
fn longer_slices_give_the_same_write_share() {
    let limit = |budget_s| {
        let outcome = Bench::new("model:x25-e-64", Nanos::from_secs(budget_s)).conduct("interference");
        outcome.derived.interference.unwrap().write_share
    };
    let (short, long) = (limit(60), limit(240));
    assert!(short.low <= long.high && long.low <= short.high, "{short:?} {long:?}");
}

#[test]
fn a_disk_has_few_cells_and_a_lower_quantile() {
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
