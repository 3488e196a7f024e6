//! A store in a file: bytes in, bytes out, one type of error.
//!
//! ```text
//! handle: put ──► its changes ── commit ──► a batch ──► BlockingStore (a thread, shared by all handles)
//!         read ─► its changes, else ──────────────────►
//! ```

mod conversion;
mod file;
mod found;
mod header;
mod make;
mod memory;
mod open;
mod options;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use nandle_io::Backend;

use self::file::StoreFile;
use self::memory::Budget;
pub use self::options::{PageOptions, usual_buffer_bytes};
use crate::{
    Batch, BatchNumber, BlockingStore, CreateOptions, OpenOptions, PageError, PageNumber, PolicyKind,
    Promises, Stats,
};

/// Pages in a file, changed by atomic, durable commits.
///
/// ```
/// use nandle_pages::{PageOptions, PageStore};
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("pages.db");
///
/// let mut store = PageStore::create(&path, PageOptions::new(1000))?; // 1000 pages of 4 KiB
/// store.put(7, &[1; 4096])?;
/// store.put(8, &[2; 4096])?;
/// store.commit()?; // from here on a power cut leaves both
/// store.close()?;
///
/// let store = PageStore::open(&path)?;
/// let mut page = [0; 4096];
/// store.read_into(8, &mut page)?;
/// assert_eq!(page, [2; 4096]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// - **Handles and threads.** A clone is another handle to the same store, for another thread. Each
///   handle gathers its own changes, which others see only after it [commits](PageStore::commit)
///   them. Each commit is atomic; if two handles change the same page, the later commit wins. Pages
///   aren't locked: handles that change a page depending on its contents need a lock of their own.
///   Concurrent commits share a flush.
/// - **After a power cut** or a `kill -9`, each commit that returned is present. An interrupted
///   commit is present entirely or not at all if the policy promises it
///   ([`promises`](PageStore::promises)); the default policy does. Opening recovers the store.
/// - **Unwritten pages** read as zeros.
/// - **Memory.** Gathered changes are on the heap. During a commit they use part of
///   [`memory_bytes`](OpenOptions::memory_bytes); commits and reads wait for free memory.
/// - **After a failed write or flush** every call fails ([`PageError::Latched`]), reads included.
///   [Reopen](PageStore::reopen) the store to recover all commits.
/// - The file is locked while the store is open. The store ends with [`close`](PageStore::close),
///   or when the last handle is dropped; the next opening then recovers it as after a power cut.
///
/// An engine with its own device, I/O loop or batch type uses [`BlockingStore`] or
/// [`Store`](crate::Store), on which this type is built.
pub struct PageStore {
    store: BlockingStore,
    shared: Arc<Shared>,
    /// Changes of this handle since its last commit; `None` is a discard.
    changes: BTreeMap<PageNumber, Option<Box<[u8]>>>,
}

/// State shared by all handles.
struct Shared {
    file: StoreFile,
    /// Memory budgets of commits and of reads.
    writing: Budget,
    reading: Budget,
    growing: Mutex<()>,
}

/// Divisors of the store's memory for commits and for reads. Staged pages use up to half of it
/// (`doublewrite`), and the rest is for gathering.
const WRITING_SHARE: usize = 4;
const READING_SHARE: usize = 8;

impl PageStore {
    /// Creates a store in a new file with reserved blocks. Never overwrites a file.
    ///
    /// # Errors
    /// A file of this name exists; it stays unchanged, and the error describes its contents. Or the
    /// disk is full, or the options contradict each other; then no file remains.
    pub fn create(path: impl AsRef<Path>, options: PageOptions) -> Result<Self, PageError> {
        let (create, open) = options.into_parts();
        Self::create_as(path.as_ref(), &create, open)
    }

    /// Creates a store with explicit options for every part.
    pub(crate) fn create_as(
        path: &Path,
        create: &CreateOptions,
        open: OpenOptions,
    ) -> Result<Self, PageError> {
        let (file, store) = StoreFile::make(path, create.device_bytes()?, |file| {
            BlockingStore::create(file.device(), create.clone(), open)
        })?;
        Ok(Self::on(store, file, &open))
    }

    fn on(store: BlockingStore, file: StoreFile, options: &OpenOptions) -> Self {
        let pages = options.memory_bytes / store.page_bytes();
        let (writing, reading) = (Budget::of(pages / WRITING_SHARE), Budget::of(pages / READING_SHARE));
        let shared = Shared { file, writing, reading, growing: Mutex::default() };
        Self { store, shared: Arc::new(shared), changes: BTreeMap::new() }
    }

    /// Sets a page's contents in this handle's next [`commit`](PageStore::commit). The last put
    /// wins.
    ///
    /// # Errors
    /// The page is beyond the end, the contents have another length, or the commit would exceed
    /// [`largest_commit`](PageStore::largest_commit): commit, or [roll back](PageStore::rollback).
    pub fn put(&mut self, page: u64, contents: &[u8]) -> Result<(), PageError> {
        self.check_length(page, contents.len())?;
        self.change(page, Some(contents.into()))
    }

    /// Discards a page's contents in this handle's next commit. Until the page is written again it
    /// reads as zeros or as anything that it ever held.
    ///
    /// # Errors
    /// As for [`put`](PageStore::put).
    pub fn discard(&mut self, page: u64) -> Result<(), PageError> {
        self.change(page, None)
    }

    fn change(&mut self, page: u64, change: Option<Box<[u8]>>) -> Result<(), PageError> {
        let page = self.check_page(page)?;
        self.change_page(page, change)
    }

    fn change_page(&mut self, page: PageNumber, change: Option<Box<[u8]>>) -> Result<(), PageError> {
        let most = self.largest_commit();
        if self.changes.len() >= most && !self.changes.contains_key(&page) {
            return Err(self.refuses_commit(self.changes.len() + 1, most));
        }
        self.changes.insert(page, change);
        debug_assert!(self.changes.len() <= most, "{} changes of {most}", self.changes.len());
        Ok(())
    }

    fn refuses_commit(&self, changes: usize, most: usize) -> PageError {
        if self.store.largest_batch() == most {
            return self.policy().refuses_batch(changes, most);
        }
        let mend = "open the store with more `memory_bytes`";
        PageError::BatchTooLarge { changes, most, mend }
    }

    /// Commits this handle's changes atomically and durably. Returns the number of the batch.
    /// Afterwards no changes are pending, even on failure.
    ///
    /// # Errors
    /// The device fails, or failed before. The changes are then present entirely or not at all.
    pub fn commit(&mut self) -> Result<BatchNumber, PageError> {
        let changes = std::mem::take(&mut self.changes);
        debug_assert!(
            changes.len() <= self.largest_commit(),
            "{} changes are checked one by one",
            changes.len()
        );
        let _memory = self.shared.writing.take(changes.len());
        let mut batch = Batch::new();
        for (page, change) in changes {
            debug_assert!(
                page == PageNumber::HEADER || page.0 < self.pages(),
                "{page} was there when it was changed, and no store shrinks"
            );
            let header = change.as_deref().filter(|_| page == PageNumber::HEADER);
            if let Some(header) = header.and_then(<[u8]>::first_chunk) {
                batch.set_header(*header);
                continue;
            }
            match change {
                Some(contents) => {
                    let mut buffer = self.store.buffer()?;
                    buffer.copy_from_slice(&contents);
                    batch.put(page, buffer.freeze());
                }
                None => batch.discard(page),
            }
        }
        self.store.commit(batch)
    }

    /// Drops this handle's changes since its last commit.
    pub fn rollback(&mut self) {
        self.changes.clear();
    }

    /// Reads a page as changed by this handle, or as last committed.
    ///
    /// # Errors
    /// The page is beyond the end, `into` has another length, or the device fails or returns other
    /// contents than the last write.
    pub fn read_into(&self, page: u64, into: &mut [u8]) -> Result<(), PageError> {
        self.check_length(page, into.len())?;
        let page = self.check_page(page)?;
        match self.changes.get(&page) {
            Some(Some(contents)) => into.copy_from_slice(contents),
            Some(None) => into.fill(0),
            None => {
                let _memory = self.shared.reading.take(1);
                into.copy_from_slice(&self.store.read(page)?);
            }
        }
        Ok(())
    }

    /// Reads a page into new memory.
    ///
    /// # Errors
    /// As for [`read_into`](PageStore::read_into).
    pub fn read(&self, page: u64) -> Result<Vec<u8>, PageError> {
        let mut contents = vec![0; self.page_bytes()];
        self.read_into(page, &mut contents)?;
        Ok(contents)
    }

    /// Reads pages as of one state, with this handle's changes on top; see
    /// [`Store::read_many`](crate::Store::read_many). [`PageNumber::HEADER`] as a number reads the
    /// header of that state, padded with zeros.
    ///
    /// # Errors
    /// As for [`read_into`](PageStore::read_into).
    pub fn read_many(&self, pages: &[u64]) -> Result<Vec<Vec<u8>>, PageError> {
        let check = |page: &u64| match PageNumber(*page) {
            PageNumber::HEADER => Ok(PageNumber::HEADER),
            PageNumber(page) => self.check_page(page),
        };
        let pages = pages.iter().map(check).collect::<Result<Vec<_>, _>>()?;
        let committed: Vec<_> =
            pages.iter().copied().filter(|page| !self.changes.contains_key(page)).collect();
        let memory = self.shared.reading.take(committed.len().min(self.shared.reading.pages()));
        let mut committed = self.store.read_many(&committed)?.into_iter();
        let mut contents = Vec::with_capacity(pages.len());
        for page in &pages {
            contents.push(match self.changes.get(page) {
                Some(Some(changed)) => {
                    let mut contents = changed.to_vec();
                    contents.resize(self.page_bytes(), 0);
                    contents
                }
                Some(None) => vec![0; self.page_bytes()],
                None => {
                    committed.next().map_or_else(|| unreachable!("{page} was read"), |page| page.to_vec())
                }
            });
        }
        debug_assert!(committed.next().is_none(), "each page that was read is asked for");
        drop(memory);
        Ok(contents)
    }

    /// Grows the store to `pages` pages, for all handles. The file is extended, with reserved
    /// blocks, while reads and commits continue. The new number is durable when this returns; an
    /// earlier power cut leaves the old number or the new one.
    ///
    /// # Errors
    /// There is no room for `pages` pages ([`pages_max`](PageOptions::pages_max)), the store has
    /// more pages already, or the disk is full; nothing is changed then. Or the device fails.
    pub fn grow(&self, pages: u64) -> Result<(), PageError> {
        // The length of the file depends on earlier growths.
        let _mine = self.shared.growing.lock().unwrap_or_else(PoisonError::into_inner);
        self.shared.file.extend(self.store.device_bytes(pages)?)?;
        self.store.grow(pages)?;
        debug_assert!(
            self.pages() >= pages,
            "{} pages are durable, and {pages} were asked for",
            self.pages()
        );
        Ok(())
    }

    /// Writes every committed page home, so that the next opening has nothing to recover. Commits
    /// go on.
    ///
    /// # Errors
    /// The device fails, or failed before.
    pub fn checkpoint(&self) -> Result<(), PageError> {
        self.store.checkpoint()
    }

    /// Reads and checks every page with known contents. Returns their number.
    ///
    /// # Errors
    /// The first page that is damaged or unreadable.
    pub fn verify(&self) -> Result<u64, PageError> {
        self.store.verify()
    }

    /// Reopens the store in place for all handles, after a failure stopped it; see
    /// [`BlockingStore::reopen`]. Drops the changes of failed commits, but no others.
    /// # Errors
    /// The opening fails and may be repeated, or the store was closed.
    /// The opening fails and may be repeated, or the store was closed.
    pub fn reopen(&self) -> Result<(), PageError> {
        self.store.reopen()
    }

    /// Closes the store for all handles, after their calls have ended. Drops uncommitted changes.
    ///
    /// # Errors
    /// The device fails, or another handle closed the store.
    pub fn close(self) -> Result<(), PageError> {
        self.store.close()
    }

    /// Last batch that was durable when the store was opened; see
    /// [`Store::last_durable_batch`](crate::Store::last_durable_batch).
    pub fn last_durable_batch(&self) -> BatchNumber {
        self.store.last_durable_batch()
    }

    /// Number of pages.
    pub fn pages(&self) -> u64 {
        self.store.pages()
    }

    /// Length of a page in bytes.
    pub fn page_bytes(&self) -> usize {
        self.store.page_bytes()
    }

    /// Maximum number of pages in a commit, limited by the policy and by memory.
    pub fn largest_commit(&self) -> usize {
        self.store.largest_batch().min(self.shared.writing.pages())
    }

    /// Write policy.
    pub fn policy(&self) -> PolicyKind {
        self.store.policy()
    }

    /// Guarantees of the policy.
    pub fn promises(&self) -> Promises {
        self.store.promises()
    }

    /// Statistics since the opening.
    ///
    /// # Errors
    /// The store was closed.
    pub fn stats(&self) -> Result<Stats, PageError> {
        self.store.stats()
    }

    /// Interface used for I/O, and unavailable features: `io_uring`, direct I/O, reserved blocks.
    ///
    /// # Errors
    /// The store was closed.
    pub fn backend(&self) -> Result<Backend, PageError> {
        let mut backend = self.store.backend()?;
        backend.stepped_down.extend(self.shared.file.given_up());
        Ok(backend)
    }

    fn check_page(&self, page: u64) -> Result<PageNumber, PageError> {
        let (page, pages) = (PageNumber(page), self.pages());
        if page.0 < pages { Ok(page) } else { Err(PageError::BeyondEnd { page, pages }) }
    }

    fn check_length(&self, page: u64, got: usize) -> Result<(), PageError> {
        let expected = self.page_bytes();
        if got == expected {
            return Ok(());
        }
        Err(PageError::PageLength { page: PageNumber(page), got, expected })
    }
}

impl Clone for PageStore {
    /// Returns another handle, without changes.
    fn clone(&self) -> Self {
        Self { store: self.store.clone(), shared: Arc::clone(&self.shared), changes: BTreeMap::new() }
    }
}

impl std::fmt::Debug for PageStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let path = self.shared.file.path();
        f.debug_struct("PageStore")
            .field("path", &path)
            .field("policy", &self.policy())
            .finish_non_exhaustive()
    }
}
