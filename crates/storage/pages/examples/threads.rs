//! Compares threads that share a store with threads on the bare file, in turns on the same disk:
//! `cargo run --release -p nandle-pages --example threads -- DIR WORK THREADS POLICY ROUNDS`. Work
//! is `reads` (of a newly opened store), `checked-reads` (of pages of noise with known checksums),
//! `half-noise-reads` (of pages that compress to half their length) or `commits:PAGES`, each
//! durable before the next. A policy may have the length of its staging area appended
//! (`stable-ring:64MiB`, default 8 MiB). Each round prints the operations per second of each
//! candidate: the bare file, for commits also the bare file with scattered pages, and the store.
//! Bare is a `pread` of a page, or a `pwrite` of a batch's bytes with an `fdatasync`. Scattered is
//! a `pwrite` of each page at a random place and an `fdatasync`, the minimum for an in-place
//! policy. Unnamed files are written entirely first.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a measuring program, and it prints")]

use std::error::Error;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use nandle_io::{Arena, Buffer, BufferMut, DeviceFile, FileOptions};
use nandle_pages::{Batch, BlockingStore, CreateOptions, OpenOptions, PageNumber, PolicyKind};
use nandle_units::parse_bytes;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

const PAGE_BYTES: usize = 4096;
const PAGES: u64 = 32 << 10;
const CHUNK_BYTES: usize = 1 << 20;
const SLICE: Duration = Duration::from_millis(500);

/// Repeated operation of each thread.
#[derive(Clone, Copy)]
enum Work {
    Read,
    Commit { pages: u64 },
}

/// A candidate for the operation.
#[derive(Clone, Copy)]
enum Candidate {
    Bare,
    Scattered,
    Store,
}

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, work, threads, policy, rounds] = arguments.as_slice() else {
        return Err(
            "usage: threads DIR reads|checked-reads|half-noise-reads|commits:PAGES THREADS POLICY ROUNDS"
                .into(),
        );
    };
    let (threads, rounds): (u64, usize) = (threads.parse()?, rounds.parse()?);
    let (policy, buffer) = policy.split_once(':').unwrap_or((policy, "8MiB"));
    let create = CreateOptions::new(policy.parse::<PolicyKind>()?, PAGE_BYTES, PAGES);
    let create = create.with_buffer_bytes(parse_bytes(buffer)?);
    let bare = file(Path::new(folder), PAGES * PAGE_BYTES as u64)?;
    let device = file(Path::new(folder), create.device_bytes()?)?;
    BlockingStore::create(Arc::clone(&device), create, OpenOptions::default())?.close()?;
    let store = BlockingStore::open(device, OpenOptions::default())?;
    let work = match work.split_once(':') {
        Some(("commits", pages)) => Work::Commit { pages: pages.parse()? },
        _ if work == "checked-reads" => {
            write_all(&store, PAGE_BYTES)?;
            Work::Read
        }
        _ if work == "half-noise-reads" => {
            write_all(&store, PAGE_BYTES / 2)?;
            Work::Read
        }
        _ if work == "reads" => Work::Read,
        _ => return Err(format!("there is no work {work:?}").into()),
    };
    let candidates = match work {
        Work::Read => vec![Candidate::Bare, Candidate::Store],
        Work::Commit { .. } => vec![Candidate::Bare, Candidate::Scattered, Candidate::Store],
    };
    for round in 0..rounds {
        let mut rates = vec![0.0; candidates.len()];
        // The first candidate rotates, so that the order favours none.
        for turn in 0..candidates.len() {
            let place = (round + turn) % candidates.len();
            let candidate = *candidates.get(place).ok_or("no candidate")?;
            let rate = by_second(threads, |seed, until| match candidate {
                Candidate::Bare => with_file(&bare, work, seed, until),
                Candidate::Scattered => scattered(&bare, work, seed, until),
                Candidate::Store => with_store(&store, work, seed, until),
            })?;
            *rates.get_mut(place).ok_or("no candidate")? = rate;
        }
        let rates: Vec<_> = rates.iter().map(|rate| format!("{rate:.1}")).collect();
        println!("{}", rates.join(" "));
    }
    eprintln!("{:?}", store.stats()?);
    Ok(store.close()?)
}

/// An unnamed file, written entirely.
fn file(folder: &Path, bytes: u64) -> Outcome<Arc<DeviceFile>> {
    let file = tempfile::tempfile_in(folder)?;
    let mut chunk = vec![0; CHUNK_BYTES];
    Xoshiro256PlusPlus::seed_from_u64(7).fill(&mut chunk[..]);
    let mut done_bytes = 0;
    while done_bytes < bytes {
        let length = usize::try_from(bytes - done_bytes)?.min(CHUNK_BYTES);
        file.write_all_at(chunk.get(..length).unwrap_or_default(), done_bytes)?;
        done_bytes += length as u64;
    }
    file.sync_all()?;
    Ok(Arc::new(DeviceFile::new(file, FileOptions::default())?))
}

/// Writes every page with `noise_bytes` of noise and a constant rest, destages it, and reads it
/// once to obtain its checksum.
fn write_all(store: &BlockingStore, noise_bytes: usize) -> Outcome<()> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(11);
    for first in (0..PAGES).step_by(64) {
        let pages: Vec<_> = (first..first + 64).map(PageNumber).collect();
        let mut batch = Batch::new();
        for page in &pages {
            let mut contents = store.buffer()?;
            let (noise, alike) = contents.split_at_mut(noise_bytes);
            random.fill(noise);
            alike.fill(page.0.to_le_bytes()[0]);
            batch.put(*page, contents.freeze());
        }
        store.write(batch)?;
    }
    store.checkpoint()?;
    for first in (0..PAGES).step_by(64) {
        let pages: Vec<_> = (first..first + 64).map(PageNumber).collect();
        store.read_many(&pages)?;
    }
    Ok(())
}

/// Operations per second of `threads` threads.
fn by_second(threads: u64, run: impl Fn(u64, &AtomicBool) -> Outcome<u64> + Sync) -> Outcome<f64> {
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let began = Instant::now();
        let workers: Vec<_> = (0..threads)
            .map(|seed| {
                scope.spawn({
                    let (run, is_over) = (&run, &is_over);
                    move || run(seed, is_over)
                })
            })
            .collect();
        std::thread::sleep(SLICE);
        is_over.store(true, Ordering::Relaxed);
        let mut done = 0;
        for worker in workers {
            done += worker.join().map_err(|_| "a thread panicked")??;
        }
        Ok(done as f64 / began.elapsed().as_secs_f64())
    })
}

fn with_file(file: &DeviceFile, work: Work, seed: u64, is_over: &AtomicBool) -> Outcome<u64> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let pages = if let Work::Commit { pages } = work { pages } else { 1 };
    let bytes = usize::try_from(pages)? * PAGE_BYTES;
    let mut memory = Arena::new(bytes)?.allocate(bytes)?;
    let mut done = 0;
    while !is_over.load(Ordering::Relaxed) {
        let offset_bytes = random.random_range(0..PAGES / pages) * bytes as u64;
        match work {
            Work::Read => file.file().read_exact_at(&mut memory, offset_bytes)?,
            Work::Commit { .. } => {
                file.file().write_all_at(&memory, offset_bytes)?;
                file.file().sync_data()?;
            }
        }
        done += 1;
    }
    Ok(done)
}

/// Writes each page separately, with one sync for all.
fn scattered(file: &DeviceFile, work: Work, seed: u64, is_over: &AtomicBool) -> Outcome<u64> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let pages = if let Work::Commit { pages } = work { pages } else { 1 };
    let memory = Arena::new(PAGE_BYTES)?.allocate(PAGE_BYTES)?;
    let mut done = 0;
    while !is_over.load(Ordering::Relaxed) {
        for _ in 0..pages {
            let offset_bytes = random.random_range(0..PAGES) * PAGE_BYTES as u64;
            file.file().write_all_at(&memory, offset_bytes)?;
        }
        file.file().sync_data()?;
        done += 1;
    }
    Ok(done)
}

fn with_store(store: &BlockingStore, work: Work, seed: u64, is_over: &AtomicBool) -> Outcome<u64> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut memory = None;
    let mut done: u64 = 0;
    while !is_over.load(Ordering::Relaxed) {
        match work {
            Work::Read => {
                let page = PageNumber(random.random_range(0..PAGES));
                let into: BufferMut = memory.take().map_or_else(|| store.buffer(), Ok)?;
                memory = Buffer::thaw(store.read_into(page, into)?).ok();
            }
            Work::Commit { pages } => {
                let mut batch = Batch::new();
                for _ in 0..pages {
                    let mut page = store.buffer()?;
                    random.fill(&mut page[..]); // nothing in it that a store could compress
                    batch.put(PageNumber(random.random_range(0..PAGES)), page.freeze());
                }
                store.commit(batch)?;
            }
        }
        done += 1;
    }
    Ok(done)
}
