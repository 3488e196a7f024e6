use nandle_io::Nanos;
use nandle_profile::Interval;
use nandle_profile::experiments::SmallestBlock;

use crate::bench::{Bench, ChangedModel};

fn on(spec: &str) -> (SmallestBlock, Option<Interval<u64>>) {
    let outcome = Bench::new(spec, Nanos::from_secs(30)).conduct("smallest-block");
    assert!(outcome.error.is_none(), "{:?}", outcome.error);
    (outcome.experiments.smallest_block.unwrap().findings, outcome.derived.smallest_block_bytes)
}

#[test]
fn reads_below_the_mapping_unit_are_as_fast() {
    for model in ["x25-e-64", "nvme-tlc", "nvme-plp"] {
        let (found, _) = on(&format!("model:{model}"));
        assert_eq!(found.read_flat_to_bytes.map(|bytes| bytes.value), Some(4096), "{model}");
        assert_eq!(
            found.read_bytes.map(|bytes| bytes.value),
            Some(512),
            "{model}: nothing is worse than 512"
        );
    }
}

/// Drive with units of 4 KiB, where programming takes 100 us and the preceding read 50 us.
fn drive_with_a_step_at_4_kib() -> ChangedModel {
    let changes = [
        ("acknowledges_early = true", "acknowledges_early = false"),
        ("program_ns = 900_000", "program_ns = 100_000"),
    ];
    ChangedModel::of("nvme-plp", &changes)
}

#[test]
fn writes_below_the_unit_are_read_modify_write() {
    let model = drive_with_a_step_at_4_kib();
    let (found, derived) = on(&model.spec());
    assert_eq!(found.read_modify_write_below_bytes.map(|bytes| bytes.value), Some(4096), "{found:?}");
    assert_eq!(derived.map(|bytes| bytes.value), Some(4096));
    let shifted = |shift| {
        found
            .alignments
            .iter()
            .find(|cost| cost.operation.to_string() == "write" && cost.shift_bytes == shift)
    };
    assert!(shifted(512).unwrap().relative_cost.low > 1.1, "two units are partly written");
    assert!(
        (shifted(4096).unwrap().relative_cost.value - 1.0).abs() < 0.05,
        "shifts by whole units cost nothing"
    );
}

#[test]
fn the_real_disk_gives_figures() {
    let outcome = Bench::on_disk(Nanos::from_secs(8)).conduct("smallest-block");
    let found = outcome.experiments.smallest_block.unwrap();
    assert!(found.complete, "{:?}", found.ended_by);
    assert!(found.bytes_written > 0 && found.findings.rates.len() >= 4, "{:?}", found.findings.rates);
    assert!(found.findings.rates.iter().all(|rate| rate.iops.low > 0.0 && rate.iops.low <= rate.iops.high));
}

/// A slice holds only a few dozen seeks, so a size may look faster than the next; none is faster
/// than all smaller ones.
#[test]
fn a_disk_has_no_block_to_fill_up() {
    let outcome = Bench::new("model:barracuda-7200.10", Nanos::from_secs(10)).conduct("smallest-block");
    let findings = outcome.experiments.smallest_block.unwrap().findings;
    assert_eq!(findings.read_modify_write_below_bytes, None);
}

/// The write limit ends the first round early, so the measured sizes must not show a step.
#[test]
fn sizes_that_were_not_all_written_conclude_nothing() {
    let model = drive_with_a_step_at_4_kib();
    for limit_mib in [2, 4, 6, 8, 10, 12] {
        let bench =
            Bench { write_limit_bytes: limit_mib << 20, ..Bench::new(&model.spec(), Nanos::from_secs(10)) };
        let record = bench.conduct("smallest-block").experiments.smallest_block.unwrap();
        let sizes = record.findings.rates.iter().filter(|rate| rate.operation.to_string() == "write");
        let is_whole = sizes.count() == 6;
        let step = record.findings.read_modify_write_below_bytes;
        assert!(is_whole || step.is_none(), "{limit_mib} MiB: {:?}", record.findings.rates);
    }
}
