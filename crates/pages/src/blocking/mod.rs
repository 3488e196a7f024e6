//! A store for threads that wait.

mod owner;

use std::fs::TryLockError;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use nandle_io::runtime::Sender;
use nandle_io::{Arena, Backend, Buffer, BufferMut, DeviceFile};

use crate::{Batch, CreateOptions, OpenOptions, PageError, PageNumber, PolicyKind, Stats};

/// A [`Store`](crate::Store) in a thread of its own, shared by threads that wait for it; a clone is another handle.
///
/// The store's thread takes all commits that have come meanwhile at once, and makes them durable with one flush: the
/// more threads commit, the more commits a flush carries. The file is locked as long as the store is open: a second
/// opening, also by another process, is refused.
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
    changes: Sender<Change>,
    reads: Sender<Read>,
    facts: Facts,
    /// Behind the senders, which are thereby dropped first.
    thread: Arc<Owner>,
}

/// The thread that owns the store: whoever drops the last handle waits for its end, and with it for the lock's.
struct Owner(Mutex<Option<JoinHandle<()>>>);

impl Owner {
    fn join(&self) -> Result<(), PageError> {
        let thread = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        thread.map_or(Ok(()), |thread| thread.join().map_err(|_| ended()))
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        // What it says was said to whoever waited for it.
        let _ = self.join();
    }
}

/// What never changes while a store is open.
#[derive(Clone)]
struct Facts {
    arena: Arena,
    page_bytes: usize,
    pages: u64,
    largest_batch: usize,
    policy: PolicyKind,
}

/// Asks for a change, in order with all other changes.
struct Change {
    what: What,
    reply: SyncSender<Result<(), PageError>>,
}

enum What {
    Write(Batch),
    Commit(Batch),
    Checkpoint,
    Close,
}

/// Asks for something that changes nothing, at the same time as anything else.
enum Read {
    Page(PageNumber, SyncSender<Result<Buffer, PageError>>),
    Verify(SyncSender<Result<u64, PageError>>),
    Stats(SyncSender<Result<Stats, PageError>>),
    Backend(SyncSender<Result<Backend, PageError>>),
}

impl BlockingStore {
    /// Makes a new store on a file or a raw device, over whatever was there.
    ///
    /// # Errors
    /// The file is in use, or as for [`Store::create`](crate::Store::create).
    pub fn create(
        file: Arc<DeviceFile>,
        create: CreateOptions,
        options: OpenOptions,
    ) -> Result<Self, PageError> {
        Self::start(file, Some(create), options)
    }

    /// Opens the store on a file or a raw device.
    ///
    /// # Errors
    /// The file is in use, or as for [`Store::open`](crate::Store::open).
    pub fn open(file: Arc<DeviceFile>, options: OpenOptions) -> Result<Self, PageError> {
        Self::start(file, None, options)
    }

    fn start(
        file: Arc<DeviceFile>,
        create: Option<CreateOptions>,
        options: OpenOptions,
    ) -> Result<Self, PageError> {
        let file = lock(file, options.read_only)?;
        let (opened, wait) = sync_channel(1);
        let thread = std::thread::Builder::new()
            .name("nandle-pages".into())
            .spawn(move || owner::run(&file, create.as_ref(), options, &opened))
            .map_err(|error| PageError::Thread { why: error.to_string() })?;
        let thread = Arc::new(Owner(Mutex::new(Some(thread))));
        let (changes, reads, facts) = wait.recv().map_err(|_| ended())??;
        Ok(Self { changes, reads, facts, thread })
    }

    /// How it writes.
    pub fn policy(&self) -> PolicyKind {
        self.facts.policy
    }

    /// Length of a page.
    pub fn page_bytes(&self) -> usize {
        self.facts.page_bytes
    }

    /// How many pages it has.
    pub fn pages(&self) -> u64 {
        self.facts.pages
    }

    /// See [`Store::largest_batch`](crate::Store::largest_batch).
    pub fn largest_batch(&self) -> usize {
        self.facts.largest_batch
    }

    /// See [`Store::buffer`](crate::Store::buffer).
    ///
    /// # Errors
    /// All of the store's memory is in use.
    pub fn buffer(&self) -> Result<BufferMut, PageError> {
        Ok(self.facts.arena.allocate(self.facts.page_bytes)?)
    }

    /// See [`Store::read`](crate::Store::read).
    ///
    /// # Errors
    /// As there, or the store was closed.
    pub fn read(&self, page: PageNumber) -> Result<Buffer, PageError> {
        self.ask(|reply| Read::Page(page, reply))
    }

    /// See [`Store::write`](crate::Store::write).
    ///
    /// # Errors
    /// As there, or the store was closed.
    pub fn write(&self, batch: Batch) -> Result<(), PageError> {
        self.change(What::Write(batch))
    }

    /// See [`Store::commit`](crate::Store::commit).
    ///
    /// # Errors
    /// As there, or the store was closed.
    pub fn commit(&self, batch: Batch) -> Result<(), PageError> {
        self.change(What::Commit(batch))
    }

    /// Makes everything durable that was accepted before.
    ///
    /// # Errors
    /// As for [`Store::sync`](crate::Store::sync), or the store was closed.
    pub fn sync(&self) -> Result<(), PageError> {
        self.change(What::Commit(Batch::new()))
    }

    /// See [`Store::checkpoint`](crate::Store::checkpoint).
    ///
    /// # Errors
    /// As there, or the store was closed.
    pub fn checkpoint(&self) -> Result<(), PageError> {
        self.change(What::Checkpoint)
    }

    /// See [`Store::verify`](crate::Store::verify).
    ///
    /// # Errors
    /// As there, or the store was closed.
    pub fn verify(&self) -> Result<u64, PageError> {
        self.ask(Read::Verify)
    }

    /// See [`Store::stats`](crate::Store::stats).
    ///
    /// # Errors
    /// The store was closed.
    pub fn stats(&self) -> Result<Stats, PageError> {
        self.ask(Read::Stats)
    }

    /// The world that it does its I/O in, and what that had to give up: on a system without `io_uring` it is a pool of
    /// threads.
    ///
    /// # Errors
    /// The store was closed.
    pub fn backend(&self) -> Result<Backend, PageError> {
        self.ask(Read::Backend)
    }

    /// Makes everything durable, ends the store for all handles, and waits for its thread.
    ///
    /// # Errors
    /// The device fails, or the store was closed before.
    pub fn close(self) -> Result<(), PageError> {
        let closed = self.change(What::Close);
        self.thread.join()?;
        closed
    }

    fn change(&self, what: What) -> Result<(), PageError> {
        let (reply, wait) = sync_channel(1);
        self.changes.send(Change { what, reply }).map_err(|_| ended())?;
        wait.recv().map_err(|_| ended())?
    }

    fn ask<T>(
        &self,
        question: impl FnOnce(SyncSender<Result<T, PageError>>) -> Read,
    ) -> Result<T, PageError> {
        let (reply, wait) = sync_channel(1);
        self.reads.send(question(reply)).map_err(|_| ended())?;
        wait.recv().map_err(|_| ended())?
    }
}

impl std::fmt::Debug for BlockingStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BlockingStore").field("policy", &self.facts.policy).finish_non_exhaustive()
    }
}

fn ended() -> PageError {
    PageError::Thread { why: "the store was closed".into() }
}

/// A file that nobody else may open as a store.
struct Locked(Arc<DeviceFile>);

impl Drop for Locked {
    fn drop(&mut self) {
        // The kernel may hold the file open longer than we do. If this fails the lock ends with that.
        let _ = self.0.file().unlock();
    }
}

/// How often a lock is asked for, and how long after one another: for a second. The kernel takes the ring of a killed
/// process apart after the process has ended, and until then, up to half a second, its file stays locked.
const LOCK_TRIES: u32 = 100;
const LOCK_PAUSE: Duration = Duration::from_millis(10);

fn lock(file: Arc<DeviceFile>, read_only: bool) -> Result<Locked, PageError> {
    for _ in 0..LOCK_TRIES {
        let locked = if read_only { file.file().try_lock_shared() } else { file.file().try_lock() };
        match locked {
            Ok(()) => return Ok(Locked(file)),
            Err(TryLockError::WouldBlock) => std::thread::sleep(LOCK_PAUSE),
            Err(TryLockError::Error(error)) => {
                return Err(PageError::Thread { why: format!("locking the file: {error}") });
            }
        }
    }
    Err(PageError::Locked)
}
