//! A store for blocking threads.
//!
//! ```text
//! a caller's thread                                   the store's thread
//! read ──► index: where is the page? ──► pread        requests ──► a task for each ──► Store
//!            ▲      └─ unknown ────────── request ──►     │ commits share a group; a checkpoint goes on beside them
//!            └───────────────────────────────────────────┘ says where pages are
//! ```

mod index;
mod index_writer;
mod lanes;
#[cfg(test)]
mod latched;
mod lock;
mod owner;
mod reader;
mod requests;
mod serve;
mod ticket;

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use nandle_io::runtime::Sender;
use nandle_io::{Arena, DeviceFile, DeviceId, Io};

use self::lock::lock;
use self::owner::World;
use self::reader::Reader;
use self::requests::Request;
pub use self::ticket::Ticket;
use crate::label::Label;
use crate::{CreateOptions, OpenOptions, PageError, PolicyKind, Promises};

/// A [`Store`](crate::Store) in its own thread, for use by blocking threads; a clone is another
/// handle.
///
/// Threads read concurrently wherever the place of a page is published, and decompress pages of
/// `out-of-place`. For that the store keeps memory of a page and 4 KiB for each concurrent reader,
/// up to 64. The store's thread performs all changes, reads of recently written or moved pages, and
/// reads of [many pages](BlockingStore::read_many). All commits that arrive during a flush share
/// the next one, so a flush carries more commits the more threads there are. A
/// [checkpoint](BlockingStore::checkpoint) runs concurrently. The file is locked while the store is
/// open: a second opening is refused, in other processes too.
///
/// After a failed write or flush every call fails ([`PageError::Latched`]), reads in callers'
/// threads included, until a handle [reopens](BlockingStore::reopen) the store.
///
/// ```no_run
/// use std::fs::File;
/// use std::sync::Arc;
/// use nandle_io::{DeviceFile, FileOptions};
/// use nandle_pages::{Batch, BlockingStore, CreateOptions, OpenOptions, PageNumber, PolicyKind};
///
/// let options = CreateOptions::new(PolicyKind::StableRing, 4096, 100_000);
/// let file = File::options().read(true).write(true).create_new(true).open("pages")?;
/// file.set_len(options.device_bytes()?)?;
/// let device = Arc::new(DeviceFile::new(file, FileOptions::default())?);
/// // From the second time on: `BlockingStore::open(device, OpenOptions::default())`.
/// let store = BlockingStore::create(device, options, OpenOptions::default())?;
/// let mut page = store.buffer()?;
/// page.fill(7);
/// let mut batch = Batch::new();
/// batch.put(PageNumber(3), page.freeze());
/// store.commit(batch)?;
/// store.close()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct BlockingStore {
    requests: Sender<Request>,
    facts: Facts,
    /// `None` if threads can't read without the store's thread.
    reader: Option<Arc<Reader>>,
    /// Declared after the sender, which is thus dropped first.
    thread: Arc<Owner>,
}

/// Thread that owns the store. Dropping the last handle waits for its end, which also releases the
/// lock.
struct Owner(Mutex<Option<JoinHandle<()>>>);

impl Owner {
    fn join(&self) -> Result<(), PageError> {
        let thread = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        thread.map_or(Ok(()), |thread| thread.join().map_err(|_| closed()))
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        // A call has already received its error.
        let _ = self.join();
    }
}

/// Facts that rarely change while a store is open.
#[derive(Clone)]
struct Facts {
    arena: Arena,
    page_bytes: usize,
    /// Current number of pages, which may grow.
    pages: Arc<AtomicU64>,
    /// Label at the time of the opening.
    label: Label,
    largest_batch: usize,
    policy: PolicyKind,
    /// Found by the latest opening.
    last_durable_batch: Arc<AtomicU64>,
    promises: Promises,
}

/// Parts that the store's thread returns once the store is open.
struct Opened {
    requests: Sender<Request>,
    facts: Facts,
    reader: Option<Arc<Reader>>,
}

impl BlockingStore {
    /// Creates a store on a file or a raw device, and overwrites its contents.
    ///
    /// # Errors
    /// The file is in use, or as for [`Store::create`](crate::Store::create).
    pub fn create(
        file: Arc<DeviceFile>,
        create: CreateOptions,
        options: OpenOptions,
    ) -> Result<Self, PageError> {
        Self::start_on(file, Some(create), options)
    }

    /// Opens the store on a file or a raw device.
    ///
    /// # Errors
    /// The file is in use, or as for [`Store::open`](crate::Store::open).
    pub fn open(file: Arc<DeviceFile>, options: OpenOptions) -> Result<Self, PageError> {
        Self::start_on(file, None, options)
    }

    /// Creates a store on a device of any world that other threads can wake, such as an array of
    /// files. The world is created in the store's thread, which performs all reads. Its files
    /// aren't locked.
    ///
    /// # Errors
    /// Other threads can't wake that world, or as for [`Store::create`](crate::Store::create).
    pub fn create_in(
        world: impl FnOnce() -> (Box<dyn Io>, DeviceId) + Send + 'static,
        create: CreateOptions,
        options: OpenOptions,
    ) -> Result<Self, PageError> {
        Self::start(|| World::of(world()), Some(create), options)
    }

    /// Opens the store on a device of any world; see [`create_in`](BlockingStore::create_in).
    ///
    /// # Errors
    /// Other threads can't wake that world, or as for [`Store::open`](crate::Store::open).
    pub fn open_in(
        world: impl FnOnce() -> (Box<dyn Io>, DeviceId) + Send + 'static,
        options: OpenOptions,
    ) -> Result<Self, PageError> {
        Self::start(|| World::of(world()), None, options)
    }

    fn start_on(
        file: Arc<DeviceFile>,
        create: Option<CreateOptions>,
        options: OpenOptions,
    ) -> Result<Self, PageError> {
        let lock = lock(file, options.read_only)?;
        Self::start(|| World::of_file(lock), create, options)
    }

    fn start(
        world: impl FnOnce() -> Result<World, PageError> + Send + 'static,
        create: Option<CreateOptions>,
        options: OpenOptions,
    ) -> Result<Self, PageError> {
        let (opened, wait) = ticket::ticket();
        let thread = std::thread::Builder::new()
            .name("nandle-pages".into())
            .spawn(move || owner::run(world, create.as_ref(), options, opened))
            .map_err(|error| PageError::Thread { why: error.to_string() })?;
        let thread = Arc::new(Owner(Mutex::new(Some(thread))));
        let Opened { requests, facts, reader } = wait.wait()?;
        Ok(Self { requests, facts, reader, thread })
    }
}

impl std::fmt::Debug for BlockingStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BlockingStore").field("policy", &self.facts.policy).finish_non_exhaustive()
    }
}

fn closed() -> PageError {
    PageError::Thread { why: "the store was closed".into() }
}
