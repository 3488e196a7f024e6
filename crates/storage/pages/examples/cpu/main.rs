//! CPU time of a page write: `cargo run --release -p nandle-pages --example cpu [POLICY]`.
//!
//! Runs on a device that completes at once and forgets its contents (`null.rs`), so the figures are
//! those of the store alone. Pages are zeros, which such a device returns when they are read back.
//! The time is that of the process, so other work affects it only through shared caches.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a tool for developers"
)]

mod null;

use nandle_io::DeviceId;
use nandle_io::runtime::Runtime;
use nandle_pages::{Batch, CreateOptions, Exchange, OpenOptions, PageNumber, PolicyKind, Stats, Store};
use null::null_world;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const PAGE_BYTES: usize = 4096;
const WRITES: u64 = 500_000;
const SLOTS: [u64; 4] = [2_048, 16_384, 65_536, 262_144];
/// Covers eight slots with labels and ledgers.
const KEPT_BYTES: usize = 8 << 20;

fn main() {
    let only: Option<PolicyKind> = std::env::args().nth(1).map(|name| name.parse().unwrap());
    let chosen = |policy: &PolicyKind| only.is_none_or(|only| only == *policy);
    println!("{WRITES} writes of random pages of 4 KiB, eight times as many as slots, one to a batch:");
    println!();
    println!(
        "| policy | slots | thousand writes/s | us a page | writes at the device, by page | reads | KiB written |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|");
    for policy in PolicyKind::ALL.into_iter().filter(chosen) {
        for slots in SLOTS {
            let (seconds, did) = measure(policy, slots);
            let by_page = |count: u64| count as f64 / WRITES as f64;
            println!(
                "| {policy} | {slots} | {:.0} | {:.2} | {:.2} | {:.2} | {:.2} |",
                WRITES as f64 / seconds / 1e3,
                seconds * 1e6 / WRITES as f64,
                by_page(did.device_writes),
                by_page(did.device_reads),
                by_page(did.device_written_bytes) / 1024.0
            );
        }
    }
    println!();
    println!(
        "Translation and decomposition alone: a page enters the table and the order, and later leaves both:"
    );
    println!();
    println!("| policy | slots | us a page |");
    println!("|---|--:|--:|");
    let staging = [PolicyKind::StableBuffer, PolicyKind::StableRing];
    for policy in staging.into_iter().filter(chosen) {
        for slots in SLOTS {
            let mut exchange = Exchange::new(policy, PAGE_BYTES, usize::try_from(slots).unwrap()).unwrap();
            let before = cpu_seconds();
            exchange.stage(WRITES);
            let seconds = cpu_seconds() - before;
            println!("| {policy} | {slots} | {:.2} |", seconds * 1e6 / WRITES as f64);
        }
    }
}

/// Writes random pages, one per batch, gathered, with eight times as many pages as slots. Returns
/// the CPU time and the statistics.
fn measure(policy: PolicyKind, slots: u64) -> (f64, Stats) {
    let buffer_bytes = slots * PAGE_BYTES as u64;
    let create = CreateOptions::new(policy, PAGE_BYTES, slots * 8).with_buffer_bytes(buffer_bytes);
    let runtime = Runtime::new(Box::new(null_world(create.device_bytes().unwrap(), KEPT_BYTES)));
    let handle = runtime.handle();
    runtime.block_on(async move {
        let device = DeviceId::from_index(0);
        // Zeros would compress unrealistically well.
        let options = OpenOptions { compress: false, ..OpenOptions::default() };
        let store = Store::create(&handle, device, &create, options).await.unwrap();
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        write(&store, &mut random, slots * 2).await;
        let (before, had) = (cpu_seconds(), store.stats());
        write(&store, &mut random, WRITES).await;
        (cpu_seconds() - before, since(&had, &store.stats()))
    })
}

fn since(before: &Stats, after: &Stats) -> Stats {
    let mut did = *after;
    did.device_writes -= before.device_writes;
    did.device_reads -= before.device_reads;
    did.device_written_bytes -= before.device_written_bytes;
    did
}

async fn write(store: &Store, random: &mut Xoshiro256PlusPlus, count: u64) {
    for _ in 0..count {
        let page = store.buffer().unwrap();
        let mut batch = Batch::new();
        batch.put(PageNumber(random.random_range(0..store.pages())), page.freeze());
        store.write(batch).await.unwrap();
    }
}

/// CPU time of this process, user and system, in seconds.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    let ticks = |field: usize| fields[field].parse::<u64>().unwrap() as f64;
    // utime and stime in hundredths of a second (USER_HZ).
    (ticks(11) + ticks(12)) / 100.0
}
