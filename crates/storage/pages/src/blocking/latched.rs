//! Tests of reads during and after the failure of a store, on a real file with an injected failing
//! flush or write.

#![allow(
    clippy::cast_possible_truncation,
    clippy::needless_for_each,
    reason = "helpers of tests are part of them"
)]

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};

use nandle_io::{
    Arena, Backend, Cause, Completion, Device, DeviceFile, DeviceId, FileOptions, Full, Io, IoError, Nanos,
    Operation, Request, Wait, Waker,
};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::BlockingStore;
use super::lock::lock;
use super::owner::World;
use crate::{Batch, CreateOptions, OpenOptions, PageError, PageNumber, PolicyKind};

const PAGES: u64 = 64;
const PAGE_BYTES: usize = 4096;
const READERS: u64 = 3;
/// Reads of each reader after the failure.
const READS_AFTER: usize = 300;

/// Kind of request to fail next, if armed.
#[derive(Clone)]
struct Trigger {
    what: &'static str,
    is_armed: Arc<AtomicBool>,
}

/// A world with one failing request. A failing write leaves its first page half written.
struct Failing {
    inner: Box<dyn Io>,
    trigger: Trigger,
    file: File,
    failed: Vec<Completion>,
}

impl Failing {
    fn fail(&mut self, device: DeviceId, Request { token, operation }: Request) {
        if let Operation::Write { offset_bytes, .. } = &operation {
            self.file.write_all_at(&[0xee; PAGE_BYTES / 2], *offset_bytes).unwrap();
            self.file.sync_data().unwrap();
        }
        let now = self.inner.now();
        let result = Err(IoError::new(&operation, Cause::System(5)));
        self.failed.push(Completion {
            token,
            device,
            submitted_at: now,
            completed_at: now,
            result,
            operation,
        });
    }
}

impl Io for Failing {
    fn devices(&self) -> &[Device] {
        self.inner.devices()
    }

    fn submit(&mut self, device: DeviceId, request: Request) -> Result<(), Full> {
        let is_meant = request.operation.name().ends_with(self.trigger.what);
        if is_meant && self.trigger.is_armed.swap(false, SeqCst) {
            self.fail(device, request);
            return Ok(());
        }
        self.inner.submit(device, request)
    }

    fn reap(&mut self, wait: Wait, into: &mut Vec<Completion>) {
        let wait = if self.failed.is_empty() { wait } else { Wait::NONE };
        into.append(&mut self.failed);
        self.inner.reap(wait, into);
    }

    fn in_flight(&self) -> usize {
        self.inner.in_flight() + self.failed.len()
    }

    fn slots(&self) -> usize {
        self.inner.slots()
    }

    fn now(&self) -> Nanos {
        self.inner.now()
    }

    fn cpu_time(&self) -> Nanos {
        self.inner.cpu_time()
    }

    fn charge_cpu(&mut self, span: Nanos) {
        self.inner.charge_cpu(span);
    }

    fn timer_slack(&self) -> Nanos {
        self.inner.timer_slack()
    }

    fn waker(&mut self) -> Option<Waker> {
        self.inner.waker()
    }

    fn register(&mut self, arena: &Arena) -> usize {
        self.inner.register(arena)
    }

    fn backend(&self) -> Backend {
        self.inner.backend()
    }
}

/// Last attempted and last acknowledged version of each page.
#[derive(Default)]
struct Versions {
    tried: Vec<AtomicU64>,
    acknowledged: Vec<AtomicU64>,
    has_stopped: AtomicBool,
}

fn open(path: &Path, trigger: &Trigger) -> BlockingStore {
    let (file, trigger) = (File::options().write(true).open(path).unwrap(), trigger.clone());
    let lock = lock(device(path), false).unwrap();
    let world = || {
        let world = World::of_file(lock)?;
        Ok(world.through(|inner| Box::new(Failing { inner, trigger, file, failed: Vec::new() })))
    };
    BlockingStore::start(world, None, options()).unwrap()
}

fn device(path: &Path) -> Arc<DeviceFile> {
    let file = File::options().read(true).write(true).open(path).unwrap();
    Arc::new(DeviceFile::new(file, FileOptions::default()).unwrap())
}

fn options() -> OpenOptions {
    OpenOptions { memory_bytes: 2 << 20, gather_bytes: 0, ..OpenOptions::default() }
}

fn batch(store: &BlockingStore, pages: &[u64], version: u64) -> Batch {
    let mut batch = Batch::new();
    for page in pages {
        let mut contents = store.buffer().unwrap();
        let word = (page << 32 | version).to_le_bytes();
        contents.chunks_mut(8).for_each(|chunk| chunk.copy_from_slice(&word));
        batch.put(PageNumber(*page), contents.freeze());
    }
    batch
}

/// Version in a page, which must be whole and belong to the page.
fn version_in(contents: &[u8], page: u64) -> u64 {
    let word = u64::from_le_bytes(contents[..8].try_into().unwrap());
    assert!(contents.chunks(8).all(|chunk| chunk == word.to_le_bytes()), "page {page} is torn");
    assert!(word == 0 || word >> 32 == page, "page {page} is another");
    word & u64::from(u32::MAX)
}

/// Commits until the store refuses. Arms the failure after a random number of commits.
fn write(store: &BlockingStore, versions: &Versions, trigger: &Trigger, seed: u64) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    for version in 1.. {
        if version == 60 {
            trigger.is_armed.store(true, SeqCst);
        }
        let pages = [random.random_range(0..PAGES), random.random_range(0..PAGES)];
        pages.iter().for_each(|page| versions.tried[*page as usize].store(version, SeqCst));
        if let Err(error) = store.commit(batch(store, &pages, version)) {
            assert!(matches!(error, PageError::Device { .. } | PageError::Latched { .. }), "{error}");
            versions.has_stopped.store(true, SeqCst);
            let refused = store.commit(batch(store, &pages, version));
            assert!(matches!(refused, Err(PageError::Latched { .. })), "{refused:?}");
            return;
        }
        pages.iter().for_each(|page| versions.acknowledged[*page as usize].store(version, SeqCst));
    }
}

/// Reads until well after the failure. Every read that begins after it must be refused.
fn read(store: &BlockingStore, versions: &Versions, seed: u64) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut after = 0;
    while after < READS_AFTER {
        let has_stopped = versions.has_stopped.load(SeqCst);
        after += usize::from(has_stopped);
        let page = random.random_range(0..PAGES);
        let least = versions.acknowledged[page as usize].load(SeqCst);
        match store.read(PageNumber(page)) {
            Ok(contents) => {
                assert!(!has_stopped, "page {page} was read after the store had stopped");
                let got = version_in(&contents, page);
                let most = versions.tried[page as usize].load(SeqCst);
                assert!(
                    (least..=most).contains(&got),
                    "page {page}: {got}, acknowledged {least}, tried {most}"
                );
            }
            Err(PageError::Latched { .. }) => {}
            Err(error) => panic!("page {page}: {error}"),
        }
    }
}

#[test]
fn readers_never_see_anything_wrong_when_a_store_stops() {
    let folder = tempfile::tempdir().unwrap();
    for policy in PolicyKind::ALL {
        for (what, seed) in [("flush", 1), ("write", 2), ("write", 3)] {
            let path = folder.path().join(format!("{policy}-{what}-{seed}"));
            let create = CreateOptions::new(policy, PAGE_BYTES, PAGES).with_buffer_bytes(1 << 20);
            File::create(&path).unwrap().set_len(create.device_bytes().unwrap()).unwrap();
            BlockingStore::create(device(&path), create, options()).unwrap().close().unwrap();
            let trigger = Trigger { what, is_armed: Arc::default() };
            let counters = || (0..PAGES).map(|_| AtomicU64::new(0)).collect();
            let versions = Versions { tried: counters(), acknowledged: counters(), ..Versions::default() };
            let store = open(&path, &trigger);
            std::thread::scope(|scope| {
                let (store, versions) = (&store, &versions);
                for reader in 0..READERS {
                    scope.spawn(move || read(store, versions, seed + reader));
                }
                write(store, versions, &trigger, seed);
            });
            let is_in_place = matches!(policy, PolicyKind::Direct | PolicyKind::Auto);
            // Reopens in place, or opens the file again.
            let store = if seed == 3 {
                drop(store);
                BlockingStore::open(device(&path), options()).unwrap()
            } else {
                store.reopen().unwrap();
                store
            };
            for page in 0..PAGES {
                let least = versions.acknowledged[page as usize].load(SeqCst);
                let tried = versions.tried[page as usize].load(SeqCst);
                if is_in_place && tried != least {
                    continue;
                }
                let got = version_in(&store.read(PageNumber(page)).unwrap(), page);
                assert!((least..=tried).contains(&got), "{policy}, page {page}: {got} of {least}..={tried}");
            }
            let number = store.commit(batch(&store, &[1, 2], 1 << 20)).unwrap();
            assert!(is_in_place || number > store.last_durable_batch(), "{policy}: {number}");
            assert_eq!(version_in(&store.read(PageNumber(2)).unwrap(), 2), 1 << 20);
            store.reopen().unwrap();
            assert_eq!(version_in(&store.read(PageNumber(1)).unwrap(), 1), 1 << 20, "it hadn't stopped");
        }
    }
}

#[test]
fn pages_are_read_in_the_callers_threads() {
    let folder = tempfile::tempdir().unwrap();
    let pages: Vec<u64> = (0..PAGES).collect();
    let policies =
        [(PolicyKind::Direct, true), (PolicyKind::OutOfPlace, true), (PolicyKind::OutOfPlace, false)];
    for (policy, compress) in policies {
        let path = folder.path().join(format!("{policy}-{compress}"));
        let create = CreateOptions::new(policy, PAGE_BYTES, PAGES).with_buffer_bytes(1 << 20);
        File::create(&path).unwrap().set_len(create.device_bytes().unwrap()).unwrap();
        let options = OpenOptions { compress, ..options() };
        let store = BlockingStore::create(device(&path), create, options).unwrap();
        for piece in pages.chunks(8) {
            store.commit(batch(&store, piece, 1)).unwrap();
        }
        store.close().unwrap();
        let trigger = Trigger { what: "read", is_armed: Arc::default() };
        let store = open(&path, &trigger);
        trigger.is_armed.store(true, SeqCst);
        for page in &pages {
            let contents = store.read(PageNumber(*page));
            let contents = contents.unwrap_or_else(|error| panic!("{policy}: {error}"));
            assert_eq!(version_in(&contents, *page), 1, "{policy}");
        }
        assert!(trigger.is_armed.load(SeqCst), "{policy}: the store's thread has read");
    }
}
