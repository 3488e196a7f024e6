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
/// - **Handles and threads.** A clone is another handle to the same store, for another thread. Each handle gathers changes of
///   its own: they are seen by this handle alone until it [commits](PageStore::commit) them, and by all others afterwards. Each
///   commit is whole for itself; of two handles that change the same page, the one that commits later wins. Nothing
///   locks pages: handles that change a page depending on what they have read of it take turns by a lock of their own. Handles
///   that commit at the same time share a flush.
/// - **What a power cut leaves**, or a `kill -9`, is all of each commit that has returned, and of one that hasn't all or
///   nothing, as far as the policy promises it ([`promises`](PageStore::promises)); the default does. Opening recovers.
/// - **Pages that were never written** are zeros.
/// - **Memory.** What a handle gathers is on the heap. On its way to the file it takes a part of
///   [`memory_bytes`](OpenOptions::memory_bytes); commits and reads wait until there is some.
/// - **After a failed write or flush** every call is refused ([`PageError::Latched`]), reads too.
///   [Reopen](PageStore::reopen) the store; what had been committed is there.
/// - The file is locked as long as the store is open. The store ends with [`close`](PageStore::close), or when the
///   last handle is dropped: then as after a power cut, and the next opening recovers.
///
/// An engine with a device, an I/O loop or a batch type of its own uses [`BlockingStore`] or [`Store`](crate::Store), which
/// this is made of.
pub struct PageStore {
    store: BlockingStore,
    shared: Arc<Shared>,
    /// What this handle has changed since its last commit; `None` is a discard.
    changes: BTreeMap<PageNumber, Option<Box<[u8]>>>,
}

/// What all handles have in common.
struct Shared {
    file: StoreFile,
    /// Pages of the store's memory that commits may have, and those that reads may have.
    writing: Budget,
    reading: Budget,
    /// One handle makes the store larger at a time.
    growing: Mutex<()>,
}

/// Of the store's memory, commits on their way take a fourth and reads an eighth at most. Up to a half holds staged pages
/// (`doublewrite`), and the rest is for what is gathered for others.
const WRITING_SHARE: usize = 4;
const READING_SHARE: usize = 8;

impl PageStore {
    /// Makes a new store in a new file, as long as it has to be and with its blocks reserved. Never overwrites a file.
    ///
    /// # Errors
    /// There is a file of this name, which is left as it is, and the error says what it holds; the disk is full, or the options
    /// contradict each other: no file is left then.
    pub fn create(path: impl AsRef<Path>, options: PageOptions) -> Result<Self, PageError> {
        let (create, open) = options.into_parts();
        Self::create_as(path.as_ref(), &create, open)
    }

    /// The same, in every part as these options say.
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

    /// Gives a page new contents, as long as a page, from this handle's next [`commit`](PageStore::commit) on. What is put
    /// later wins.
    ///
    /// # Errors
    /// The page is beyond the end, the contents have another length, or a commit can't hold more pages
    /// ([`largest_commit`](PageStore::largest_commit)): commit what there is, or [roll it back](PageStore::rollback).
    pub fn put(&mut self, page: u64, contents: &[u8]) -> Result<(), PageError> {
        self.check_length(page, contents.len())?;
        self.change(page, Some(contents.into()))
    }

    /// Says that a page's contents are needed no more, from this handle's next commit on. Until the page is written again it
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

    /// Makes durable what this handle has changed, as a whole, and returns the number of that batch; nothing is left to commit then,
    /// whether or not it succeeds.
    ///
    /// # Errors
    /// The device fails, or failed before. The changes may then survive or not, but not in part.
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

    /// Forgets what this handle has changed since its last commit.
    pub fn rollback(&mut self) {
        self.changes.clear();
    }

    /// Reads a page as this handle has changed it, or else as it was committed last.
    ///
    /// # Errors
    /// The page is beyond the end, `into` isn't as long as a page, the device fails, or what it returns isn't what was written
    /// last.
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

    /// The same into memory of its own.
    ///
    /// # Errors
    /// As for [`read_into`](PageStore::read_into).
    pub fn read(&self, page: u64) -> Result<Vec<u8>, PageError> {
        let mut contents = vec![0; self.page_bytes()];
        self.read_into(page, &mut contents)?;
        Ok(contents)
    }

    /// Reads pages of one state: no commit of another handle is in it in part; see
    /// [`Store::read_many`](crate::Store::read_many). What this handle has changed comes on top. The number of
    /// [`PageNumber::HEADER`] gives the header of the same state, and zeros behind it.
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

    /// Gives the store more pages, `pages` in all, for all handles: the file gets longer, with its blocks. Reads and commits go
    /// on meanwhile. When this returns the new number is durable; a power cut before leaves the old number or the new one.
    ///
    /// # Errors
    /// There is no room for so many ([`pages_max`](PageOptions::pages_max)), or they are fewer than there are; the disk is full: all of these change
    /// nothing. Or the device fails.
    pub fn grow(&self, pages: u64) -> Result<(), PageError> {
        // How long the file must be depends on the growths before.
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

    /// Brings every page that was committed to its own place, so that the next opening has nothing to recover. Commits go on
    /// meanwhile.
    ///
    /// # Errors
    /// The device fails, or failed before.
    pub fn checkpoint(&self) -> Result<(), PageError> {
        self.store.checkpoint()
    }

    /// Reads and checks every page whose contents are known; returns how many those are.
    ///
    /// # Errors
    /// The first page that is damaged or can't be read.
    pub fn verify(&self) -> Result<u64, PageError> {
        self.store.verify()
    }

    /// Opens the store again, in place and for all handles, after a failure has stopped it; see
    /// [`BlockingStore::reopen`]. What handles have put and not committed stays with them; what a commit failed with is gone.
    ///
    /// # Errors
    /// The opening fails, and this may be called again; or the store was closed.
    pub fn reopen(&self) -> Result<(), PageError> {
        self.store.reopen()
    }

    /// Ends the store for all handles, when what they have begun is done. What was put and not committed is forgotten.
    ///
    /// # Errors
    /// The device fails, or another handle has closed the store.
    pub fn close(self) -> Result<(), PageError> {
        self.store.close()
    }

    /// The last batch that was durable when the store was opened; see
    /// [`Store::last_durable_batch`](crate::Store::last_durable_batch).
    pub fn last_durable_batch(&self) -> BatchNumber {
        self.store.last_durable_batch()
    }

    /// How many pages it has.
    pub fn pages(&self) -> u64 {
        self.store.pages()
    }

    /// Length of a page.
    pub fn page_bytes(&self) -> usize {
        self.store.page_bytes()
    }

    /// The most pages that one commit can change: what the policy makes durable as a whole, and what fits into memory.
    pub fn largest_commit(&self) -> usize {
        self.store.largest_batch().min(self.shared.writing.pages())
    }

    /// How it writes.
    pub fn policy(&self) -> PolicyKind {
        self.store.policy()
    }

    /// What its policy promises.
    pub fn promises(&self) -> Promises {
        self.store.promises()
    }

    /// What it did since it was opened.
    ///
    /// # Errors
    /// The store was closed.
    pub fn stats(&self) -> Result<Stats, PageError> {
        self.store.stats()
    }

    /// What does its I/O, and what had to be given up: `io_uring`, direct I/O, blocks that are reserved.
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
    /// Another handle, which has changed nothing yet.
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
