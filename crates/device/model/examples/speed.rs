//! Measures the models' speed and memory, as JSON: simulated requests per CPU second on one core,
//! bytes of tables for each page, milliseconds to make a drive. `cargo xtask bench model` runs it
//! several times.
//!
//! `cargo run --release -p nandle-model --example speed`
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a measuring program, and it prints")]

use std::time::Instant;

#[path = "../tests/common/mod.rs"]
mod common;

use common::driver::{Load, run};
use common::patterns::Pattern;
use nandle_io::{Arena, Io, Operation, Request, Wait};
use nandle_model::flash::FlashDrive;
use nandle_model::library::{self, Model};
use nandle_model::world::{Host, ModelWorld};

const RANDOM: Pattern = Pattern::RandomGroups { group: 1 };
const REQUESTS: u64 = 3_000_000;
const DEPTH: usize = 32;

fn main() {
    let parameters = library::flash("x25-m-g2").unwrap();
    let mut drive = FlashDrive::new(&parameters).unwrap();
    drive.fill_sequentially(1.0).unwrap();
    let area_bytes = parameters.capacity_bytes;
    let reads = Load { depth: DEPTH, requests: REQUESTS, ..Load::read(RANDOM, 4096, area_bytes) };
    let writes = Load { depth: DEPTH, requests: REQUESTS, ..Load::write(RANDOM, 4096, area_bytes) };
    let (read_requests_per_s, end_ns) = per_cpu_second(&mut drive, reads, 0);
    // Use up the spare space first, so that cleaning runs.
    let (_, end_ns) = per_cpu_second(&mut drive, writes, end_ns);
    let (write_requests_per_s, _) = per_cpu_second(&mut drive, writes, end_ns);
    let pages = parameters.capacity_bytes / 4096;
    let figures = serde_json::json!({
        "random_reads_per_cpu_s": read_requests_per_s,
        "random_writes_steady_per_cpu_s": write_requests_per_s,
        "world_random_reads_per_cpu_s": world_reads(area_bytes),
        "table_bytes_per_page": drive.table_bytes() as f64 / pages as f64,
        "making_4_tb_ms": making_ms(),
    });
    println!("{figures}");
}

/// CPU time of this thread; wall time where the system doesn't report it.
fn processor_seconds(start: Instant) -> f64 {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = told.and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    nanoseconds.map_or_else(|| start.elapsed().as_secs_f64(), |nanoseconds| nanoseconds / 1e9)
}

fn per_cpu_second(drive: &mut FlashDrive, load: Load, start_ns: u64) -> (f64, u64) {
    let clock = Instant::now();
    let start = processor_seconds(clock);
    let end_ns = run(drive, load, start_ns).end_ns;
    (load.requests as f64 / (processor_seconds(clock) - start), end_ns)
}

/// Rate of the same reads through the world, with requests, buffers and completions.
fn world_reads(area_bytes: u64) -> f64 {
    let mut world = ModelWorld::new(Host::with_slots(DEPTH));
    let device = world.add(Model::named("x25-m-g2").unwrap().device().unwrap());
    let arena = Arena::new(DEPTH * 4096).unwrap();
    let mut buffers: Vec<_> = (0..DEPTH).map(|_| arena.allocate(4096).unwrap()).collect();
    let mut offsets = common::patterns::Offsets::new(RANDOM, 4096, area_bytes, 1);
    let mut completions = Vec::new();
    let clock = Instant::now();
    let start = processor_seconds(clock);
    for _ in 0..REQUESTS {
        if buffers.is_empty() {
            world.reap(Wait::until_completed(1), &mut completions);
            buffers.extend(completions.drain(..).filter_map(|done| done.operation.into_read_buffer()));
        }
        let operation = Operation::read(offsets.next().unwrap(), buffers.pop().unwrap());
        world.submit(device.id, Request { token: 0, operation }).unwrap();
    }
    REQUESTS as f64 / (processor_seconds(clock) - start)
}

/// Time to make and fill the largest drive at its real size.
fn making_ms() -> f64 {
    let start = Instant::now();
    let parameters = library::flash("nvme-tlc").unwrap();
    let real_bytes = parameters.scaled_from_bytes.unwrap();
    let mut drive = FlashDrive::new(&parameters.with_capacity_bytes(real_bytes).unwrap()).unwrap();
    drive.fill_sequentially(1.0).unwrap();
    start.elapsed().as_secs_f64() * 1e3
}
