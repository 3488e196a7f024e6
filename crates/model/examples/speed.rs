//! How fast the models are: simulated requests per CPU second, one core.
//!
//! `cargo run --release -p nandle-model --example speed`
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a measuring program, and it prints")]

use std::time::Instant;

#[path = "../tests/common/mod.rs"]
mod common;

use common::driver::{Load, run};
use common::patterns::Pattern;
use nandle_model::flash::FlashDrive;
use nandle_model::library;

const RANDOM: Pattern = Pattern::RandomGroups { group: 1 };

fn main() {
    let parameters = library::flash("x25-m-g2").unwrap();
    let start = Instant::now();
    let mut drive = FlashDrive::new(&parameters).unwrap();
    drive.fill_sequentially(1.0).unwrap();
    println!("making and filling the drive: {:.2} ms", start.elapsed().as_secs_f64() * 1e3);
    let area_bytes = parameters.capacity_bytes;
    let reads = Load { depth: 32, requests: 3_000_000, ..Load::read(RANDOM, 4096, area_bytes) };
    let end_ns = measure("random reads, depth 32", &mut drive, reads, 0);
    let writes = Load { depth: 32, requests: 4_000_000, ..Load::write(RANDOM, 4096, area_bytes) };
    let end_ns = measure("random writes, from sequentially filled", &mut drive, writes, end_ns);
    measure("random writes, steady state", &mut drive, writes, end_ns);
    let units = parameters.capacity_bytes / 4096;
    println!("tables: {:.1} bytes per user page", drive.table_bytes() as f64 / units as f64);
}

/// Time that this thread has spent on a processor; wall time where the system does not tell.
fn processor_seconds(start: Instant) -> f64 {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = told.and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    nanoseconds.map_or_else(|| start.elapsed().as_secs_f64(), |nanoseconds| nanoseconds / 1e9)
}

fn measure(what: &str, drive: &mut FlashDrive, load: Load, start_ns: u64) -> u64 {
    let before = drive.stats();
    let clock = Instant::now();
    let start = processor_seconds(clock);
    let outcome = run(drive, load, start_ns);
    let seconds = processor_seconds(clock) - start;
    let after = drive.stats();
    let host = (after.host_written_units - before.host_written_units).max(1) as f64;
    let moved = (after.moved_units - before.moved_units) as f64;
    println!(
        "{what}: {:.2} million per CPU second; of the drive {:.0} IOPS, {:.2} moves per write, {:.1} ms at most",
        load.requests as f64 / seconds / 1e6,
        outcome.requests_per_s,
        moved / host,
        outcome.max_latency_ms(),
    );
    outcome.end_ns
}
