//! Time of an opening of `out-of-place` on a real disk: `cargo run --release -p nandle-pages
//! --example openings -- DIR PAGES`. Writes every page once and half of them again at random,
//! closes the store, opens it, and repeats this without closing. The file has no name. Prints
//! seconds, and bytes read.
#![allow(clippy::print_stdout, reason = "a measuring program, and it prints")]

use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use nandle_io::runtime::{Handle, Runtime};
use nandle_io::{DeviceFile, DeviceId, FileOptions, Uring};
use nandle_pages::{Batch, CreateOptions, OpenOptions, PageNumber, PolicyKind, Store};
use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const PAGE_BYTES: usize = 4096;
const BATCH_PAGES: u64 = 64;
/// Batches between two syncs.
const BATCHES: u64 = 32;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, pages] = arguments.as_slice() else {
        return Err("usage: openings DIR PAGES".into());
    };
    let create = CreateOptions::new(PolicyKind::OutOfPlace, PAGE_BYTES, pages.parse()?);
    let file = tempfile::tempfile_in(Path::new(folder))?;
    file.set_len(create.device_bytes()?)?;
    let file = Arc::new(DeviceFile::new(file, FileOptions::default())?);
    let in_a_world = || -> Result<(Runtime, DeviceId), Box<dyn Error>> {
        let mut ring = Uring::new(256)?;
        let id = ring.add(Arc::clone(&file)).id;
        Ok((Runtime::new(Box::new(ring)), id))
    };
    let (runtime, device) = in_a_world()?;
    let handle = runtime.handle();
    runtime.block_on(async {
        let store = Store::create(&handle, device, &create, OpenOptions::default()).await?;
        write(&store, (0..create.pages).collect()).await?;
        store.close().await?;
        let store = open(&handle, device, "after a clean close").await?;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let again = (0..create.pages / 2).map(|_| random.random_range(0..create.pages));
        write(&store, again.collect()).await
    })?;
    // Drops requests in flight with their runtime, as in a crash.
    drop(runtime);
    let (runtime, device) = in_a_world()?;
    let handle = runtime.handle();
    runtime.block_on(async {
        let store = open(&handle, device, "after a crash").await?;
        Ok(store.close().await?)
    })
}

/// Writes pages of noise, many per batch, with occasional syncs.
async fn write(store: &Store, pages: Vec<u64>) -> Result<(), Box<dyn Error>> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
    let most = store.largest_batch().min(usize::try_from(BATCH_PAGES)?);
    for (number, pages) in (1..).zip(pages.chunks(most)) {
        let mut batch = Batch::new();
        for page in pages {
            let mut buffer = store.buffer()?;
            random.fill_bytes(&mut buffer);
            batch.put(PageNumber(*page), buffer.freeze());
        }
        store.write(batch).await?;
        if number % BATCHES == 0 {
            store.sync().await?;
        }
    }
    store.sync().await?;
    Ok(())
}

async fn open(handle: &Handle, device: DeviceId, when: &str) -> Result<Store, Box<dyn Error>> {
    let began = Instant::now();
    let store = Store::open(handle, device, OpenOptions::default()).await?;
    let seconds = began.elapsed().as_secs_f64();
    let did = store.stats();
    let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
    println!(
        "{when}: {seconds:.3} s; {} reads of {:.1} MiB in all, {:.1} MiB written; {:.3} s for a million pages",
        did.device_reads,
        mib(did.device_read_bytes),
        mib(did.device_written_bytes),
        seconds * 1e6 / store.pages() as f64,
    );
    Ok(store)
}
