//! What a page write costs the processor: `cargo run --release -p nandle-pages --example speed`.
//! On a device in memory that completes at once; its copying is in the figures. The time is the process's own, so other
//! work on the machine disturbs it little.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a tool for developers"
)]

use nandle_io::conformance::MemoryWorld;
use nandle_io::runtime::Runtime;
use nandle_io::{Device, Nanos};
use nandle_pages::{Batch, CreateOptions, OpenOptions, PageNumber, PolicyKind, Store};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const PAGE_BYTES: usize = 4096;
const WRITES: u64 = 400_000;

fn main() {
    println!("policy          slots    thousand page writes a second of processor time");
    for policy in PolicyKind::ALL {
        for slots in [2_048, 16_384, 65_536] {
            let seconds = measure(policy, slots);
            println!("{policy:<14} {slots:>6}    {:.0}", WRITES as f64 / seconds / 1e3);
        }
    }
}

/// Random pages of eight times as many as there are slots, one a batch, gathered.
fn measure(policy: PolicyKind, slots: u64) -> f64 {
    let pages = slots * 8;
    let mut world = MemoryWorld::new(256, Nanos::ZERO);
    let Device { id, .. } = world.add((pages + slots + 1024) * PAGE_BYTES as u64, 512);
    let runtime = Runtime::new(Box::new(world));
    let handle = runtime.handle();
    runtime.block_on(async move {
        let buffer_bytes = slots * PAGE_BYTES as u64;
        let create = CreateOptions::new(policy, PAGE_BYTES, pages).with_buffer_bytes(buffer_bytes);
        let store = Store::create(&handle, id, &create, OpenOptions::default()).await.unwrap();
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        write(&store, &mut random, slots * 2).await;
        let before = cpu_seconds();
        write(&store, &mut random, WRITES).await;
        cpu_seconds() - before
    })
}

async fn write(store: &Store, random: &mut Xoshiro256PlusPlus, count: u64) {
    for number in 0..count {
        let mut page = store.buffer().unwrap();
        page[..8].copy_from_slice(&number.to_le_bytes());
        let mut batch = Batch::new();
        batch.put(PageNumber(random.random_range(0..store.pages())), page.freeze());
        store.write(batch).await.unwrap();
    }
}

/// Processor time of this process, user and system, in seconds.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    let ticks = |field: usize| fields[field].parse::<u64>().unwrap() as f64;
    // utime and stime, in hundredths of a second (USER_HZ).
    (ticks(11) + ticks(12)) / 100.0
}
