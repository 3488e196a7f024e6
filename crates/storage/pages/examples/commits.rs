//! Durable commits per second on a real disk: `cargo run --release -p nandle-pages --example
//! commits -- DIR CONTENDER COUNT`. A contender is a policy, optionally with the length of its
//! staging area (`stable-buffer:64MiB`; default 8 MiB), or `bare`: one write of the same bytes and
//! an fdatasync. Prints commits per second, and to standard error the requests to the device. The
//! unnamed file is written entirely first, so that no commit meets an unwritten extent.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a measuring program, and it prints")]

use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use nandle_io::runtime::{Handle, Runtime};
use nandle_io::{Arena, DeviceFile, DeviceId, FileOptions, FileWorld, Io};
use nandle_pages::{Batch, CreateOptions, OpenOptions, PageNumber, PolicyKind, Store};
use nandle_units::parse_bytes;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const PAGE_BYTES: usize = 4096;
/// Random pages per commit.
const BATCH_PAGES: u64 = 8;
const PAGES: u64 = 16 << 10;
const BUFFER_BYTES: u64 = 8 << 20;
const CHUNK_BYTES: usize = 1 << 20;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, contender, count] = arguments.as_slice() else {
        return Err("usage: commits DIR CONTENDER COUNT".into());
    };
    let count: u64 = count.parse()?;
    let (contender, buffer) = contender.split_once(':').unwrap_or((contender, "8MiB"));
    let policy = (contender != "bare").then(|| contender.parse::<PolicyKind>()).transpose()?;
    let create = CreateOptions::new(policy.unwrap_or(PolicyKind::Direct), PAGE_BYTES, PAGES)
        .with_buffer_bytes(parse_bytes(buffer)?);
    let (world, device) = file_world(Path::new(folder), create.device_bytes()?)?;
    let runtime = Runtime::new(world);
    let handle = runtime.handle();
    let seconds = runtime.block_on(async {
        fill(&handle, device, create.device_bytes()?).await?;
        match policy {
            Some(_) => policy_seconds(&handle, device, &create, count).await,
            None => bare_seconds(&handle, device, count).await,
        }
    })?;
    println!("{:.1}", count as f64 / seconds);
    Ok(())
}

/// A world with an unnamed file.
fn file_world(folder: &Path, bytes: u64) -> Result<(Box<dyn Io>, DeviceId), Box<dyn Error>> {
    let file = tempfile::tempfile_in(folder)?;
    file.set_len(bytes)?;
    let mut world = FileWorld::new(256)?;
    let id = world.add(Arc::new(DeviceFile::new(file, FileOptions::default())?)).id;
    let io = world.into_io();
    let backend = io.backend();
    if !backend.stepped_down.is_empty() {
        eprintln!("{}: {}", backend.name, backend.stepped_down.join("; "));
    }
    Ok((io, id))
}

async fn fill(handle: &Handle, device: DeviceId, bytes: u64) -> Result<(), Box<dyn Error>> {
    let device = handle.device(device);
    let mut chunk = Arena::new(CHUNK_BYTES)?.allocate(CHUNK_BYTES)?;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
    chunk.chunks_exact_mut(8).for_each(|word| word.copy_from_slice(&random.random::<u64>().to_le_bytes()));
    let chunk = chunk.freeze();
    let mut done_bytes = 0;
    while done_bytes < bytes {
        let length = usize::try_from(bytes - done_bytes)?.min(CHUNK_BYTES);
        device.write(done_bytes, chunk.slice(0..length)).await?;
        done_bytes += length as u64;
    }
    Ok(device.flush().await?)
}

/// Writes the bytes of a batch sequentially, within an area as long as the buffer.
async fn bare_seconds(handle: &Handle, device: DeviceId, count: u64) -> Result<f64, Box<dyn Error>> {
    let device = handle.device(device);
    let bytes = usize::try_from(BATCH_PAGES)? * PAGE_BYTES;
    let batch = Arena::new(bytes)?.allocate(bytes)?.freeze();
    let began = Instant::now();
    for number in 0..count {
        device.write(number * bytes as u64 % BUFFER_BYTES, batch.clone()).await?;
        device.flush().await?;
    }
    Ok(began.elapsed().as_secs_f64())
}

async fn policy_seconds(
    handle: &Handle,
    device: DeviceId,
    create: &CreateOptions,
    count: u64,
) -> Result<f64, Box<dyn Error>> {
    let store = Store::create(handle, device, create, OpenOptions::default()).await?;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let began = Instant::now();
    for _ in 0..count {
        let mut batch = Batch::new();
        for _ in 0..BATCH_PAGES {
            let mut page = store.buffer()?;
            random.fill(&mut page[..]); // nothing in it that a store could compress
            batch.put(PageNumber(random.random_range(0..PAGES)), page.freeze());
        }
        store.commit(batch).await?;
    }
    let seconds = began.elapsed().as_secs_f64();
    let did = store.stats();
    store.close().await?;
    let by_commit = |what: u64| what as f64 / count as f64;
    eprintln!(
        "by commit: {:.2} writes of {:.1} KiB in all, {:.2} reads, {:.2} flushes, {:.2} pages destaged",
        by_commit(did.device_writes),
        by_commit(did.device_written_bytes) / 1024.0,
        by_commit(did.device_reads),
        by_commit(did.device_flushes),
        by_commit(did.pages_destaged),
    );
    Ok(seconds)
}
