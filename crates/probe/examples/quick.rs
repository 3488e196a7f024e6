#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    missing_docs,
    clippy::indexing_slicing,
    clippy::expect_used
)]
use nandle_io::*;
use nandle_probe::{load::*, pattern::*};
use nandle_profile::OperationKind;
use std::sync::Arc;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let file = std::fs::File::open(&args[1]).unwrap();
    let file = Arc::new(DeviceFile::new(file, FileOptions::default()).unwrap());
    let block: u64 = args[2].parse().unwrap();
    let depth: u32 = args[3].parse().unwrap();
    let refill = if args[4] == "exact" { Refill::Exact } else { Refill::Batched };
    let secs: u64 = args[5].parse().unwrap();
    let mut io = Uring::new(depth).unwrap();
    let device = io.add(file);
    println!("{:?}", io.backend());
    let bytes = device.shape.capacity_bytes;
    let mut lane = Lane::new(
        Box::new(io),
        device,
        LaneOptions { buffer_bytes: (block * u64::from(depth)).max(1 << 20), patience: Nanos::from_secs(10) },
    )
    .unwrap();
    println!("registered {}", lane.registered_bytes());
    let area = Area::new(0, bytes, block).unwrap();
    let work = Work {
        pattern: PatternSpec::Random.start(area, 1, 5),
        block_bytes: block,
        operation: OperationKind::Read,
        contents: None,
        seed: 1,
    };
    let run = ClosedLoop {
        queue_depth: depth,
        refill,
        counting: Counting::Whole,
        stop: Stop::after(Nanos::from_secs(secs)),
    };
    let m = run.run(&mut lane, work, &Cancel::default()).unwrap();
    println!(
        "{:.0} iops {:.1} MB/s cpu {:.0} ns/req mean out {:.2} {:?}",
        m.iops(),
        m.bandwidth_bytes_per_s() / 1e6,
        m.cpu_ns_per_request(),
        m.mean_outstanding(),
        summary(&m.latency_ns)
    );
}
