//! Experiments with only a few figures as findings.

use nandle_io::Nanos;

use crate::bench::Bench;

fn on(spec: &str, name: &str) -> crate::bench::Outcome {
    let outcome = Bench::new(spec, Nanos::from_secs(20)).conduct(name);
    assert!(outcome.error.is_none(), "{spec}: {:?}", outcome.error);
    outcome
}

#[test]
fn a_discard_costs_what_the_firmware_takes() {
    // 0.5 ms of the card's firmware and 2 us of the host per command.
    let card = on("model:sd-card", "discard").experiments.discard.unwrap();
    assert!(card.complete, "{:?}", card.ended_by);
    let smallest = &card.findings.discards[0];
    assert_eq!(smallest.discard_bytes, 4096);
    let mean = smallest.latency_ns.mean.unwrap();
    assert!((500_000.0..560_000.0).contains(&mean), "{mean}");
    // The card serves one command at a time, so reads wait for the discard before them.
    let [alone, beside] = [card.findings.read_latency_alone_ns, card.findings.read_latency_beside_ns];
    let more = beside.mean.unwrap() - alone.mean.unwrap();
    assert!((400_000.0..2_000_000.0).contains(&more), "{more}");
}

#[test]
fn discarded_ranges_are_rewritten() {
    let record = on("model:nvme-plp", "discard").experiments.discard.unwrap();
    assert!(record.complete && record.bytes_written >= 256 << 20, "{record:?}");
    let sizes: Vec<u64> = record.findings.discards.iter().map(|cost| cost.discard_bytes).collect();
    assert_eq!(sizes, [4 << 10, 64 << 10, 1 << 20, 16 << 20]);
    let disk = Bench::on_disk(Nanos::from_secs(10));
    let record = disk.conduct("discard").experiments.discard.unwrap();
    assert!(record.complete && record.bytes_written > 0, "{:?}", record.ended_by);
    for file in disk.target.files() {
        let hole = first_hole(file.file());
        assert_eq!(hole, None, "the test file has a hole at {hole:?}");
    }
}

/// Offset of a file's first hole.
fn first_hole(file: &std::fs::File) -> Option<u64> {
    use std::os::fd::AsRawFd as _;
    let length = file.metadata().unwrap().len();
    let answer = std::process::Command::new("python3")
        .arg("-c")
        .arg(format!(
            "import os;print(os.lseek(os.open('/proc/{}/fd/{}',0),0,os.SEEK_HOLE))",
            std::process::id(),
            file.as_raw_fd()
        ))
        .output()
        .unwrap();
    let at: u64 = String::from_utf8(answer.stdout).unwrap().trim().parse().unwrap();
    (at < length).then_some(at)
}

#[test]
fn disks_take_no_discards() {
    let circumstances = Bench::new("model:barracuda-7200.10", Nanos::from_secs(20)).why_not("discard");
    assert!(circumstances.unwrap().contains("no discards"));
}

#[test]
fn asynchronous_reads_gain_the_parallelism_of_the_device() {
    // Forty dies, compared with one command at a time.
    let nvme = on("model:nvme-plp", "sync-reads").experiments.sync_reads.unwrap().findings;
    let of = |outstanding| {
        nvme.reads.iter().find(|read| read.block_bytes == 4096 && read.outstanding == outstanding).unwrap()
    };
    assert!(of(32).async_bytes_per_s.value > 15.0 * of(1).sync_bytes_per_s.unwrap().value);
    assert!(of(32).sync_bytes_per_s.is_none(), "the modelled host has one thread");
    let ratio = of(1).async_bytes_per_s.value / of(1).sync_bytes_per_s.unwrap().value;
    assert!((ratio - 1.0).abs() < 0.05, "a single read is the same either way: {ratio}");
    let mtron = on("model:mtron-16", "sync-reads").experiments.sync_reads.unwrap().findings;
    let small: Vec<f64> = mtron
        .reads
        .iter()
        .filter(|read| read.block_bytes == 4096)
        .map(|read| read.async_bytes_per_s.value)
        .collect();
    assert!(small[3] < 1.3 * small[0], "a drive without a queue: {small:?}");
}

#[test]
fn the_real_disk_by_threads_that_block_and_by_queues() {
    let record = Bench::on_disk(Nanos::from_secs(10)).conduct("sync-reads").experiments.sync_reads.unwrap();
    assert!(record.complete, "{:?}", record.ended_by);
    assert!(record.findings.reads.len() >= 16);
    for read in &record.findings.reads {
        assert!(read.sync_bytes_per_s.unwrap().low > 0.0 && read.async_bytes_per_s.low > 0.0, "{read:?}");
        assert!(read.sync_cpu_ns_per_request.unwrap() > 0.0);
    }
    let scaling = Bench::on_disk(Nanos::from_secs(8)).conduct("scaling").experiments.scaling.unwrap();
    assert!(scaling.complete && scaling.findings.cells.len() == 8, "{:?}", scaling.ended_by);
    assert!(scaling.findings.cells.iter().all(|cell| cell.iops.low > 0.0));
}

#[test]
fn atomic_write_units_are_those_of_the_kernel() {
    let record =
        Bench::on_disk(Nanos::from_secs(2)).conduct("atomic-write").experiments.atomic_write.unwrap();
    assert!(record.complete && record.findings.source.contains("statx"), "{record:?}");
    let model = Bench::new("model:mtron-16", Nanos::from_secs(2));
    for name in ["atomic-write", "scaling"] {
        assert!(model.why_not(name).unwrap().contains("model"), "{name}");
    }
}
