//! Requests of callers to a store, and their replies.

use std::sync::atomic::Ordering;

use nandle_io::{Backend, Buffer, BufferMut};

use super::reader::{Outcome, Reader};
use super::ticket::{Answer, Ticket, ticket};
use super::{BlockingStore, closed};
use crate::memory::memory_of;
use crate::{Batch, BatchNumber, HEADER_BYTES, PageError, PageNumber, PolicyKind, Promises, Stats};

/// Request to the store's thread.
pub(super) enum Request {
    Read(PageNumber, Answer<Buffer>),
    ReadMany(Vec<PageNumber>, Answer<Vec<Buffer>>),
    Header(Answer<[u8; HEADER_BYTES]>),
    Write(Batch, Answer<()>),
    Commit(Batch, Answer<BatchNumber>),
    Sync(Answer<BatchNumber>),
    Checkpoint(Answer<()>),
    GrownBytes(u64, Answer<u64>),
    Grow(u64, Answer<()>),
    Verify(Answer<u64>),
    Stats(Answer<Stats>),
    Backend(Answer<Backend>),
    Reopen(Answer<()>),
    Close(Answer<()>),
}

impl BlockingStore {
    /// Write policy.
    pub fn policy(&self) -> PolicyKind {
        self.facts.policy
    }

    /// Guarantees of the policy.
    pub fn promises(&self) -> Promises {
        self.facts.promises
    }

    /// Length of a page in bytes.
    pub fn page_bytes(&self) -> usize {
        self.facts.page_bytes
    }

    /// See [`Store::last_durable_batch`](crate::Store::last_durable_batch).
    pub fn last_durable_batch(&self) -> BatchNumber {
        BatchNumber(self.facts.last_durable_batch.load(Ordering::SeqCst))
    }

    /// Number of pages.
    pub fn pages(&self) -> u64 {
        self.facts.pages.load(Ordering::SeqCst)
    }

    /// Length that the device needs for `pages` pages. Under `out-of-place` it depends on earlier
    /// growths, so no other handle may grow the store while the file is being extended.
    ///
    /// # Errors
    /// The store can't [grow](BlockingStore::grow) to this size, or was closed.
    pub fn device_bytes(&self, pages: u64) -> Result<u64, PageError> {
        self.ask(|answer| Request::GrownBytes(pages, answer))?.wait()
    }

    /// See [`Store::largest_batch`](crate::Store::largest_batch).
    pub fn largest_batch(&self) -> usize {
        self.facts.largest_batch
    }

    /// See [`Store::buffer`](crate::Store::buffer).
    ///
    /// # Errors
    /// No memory is available.
    pub fn buffer(&self) -> Result<BufferMut, PageError> {
        Ok(memory_of(&self.facts.arena, self.facts.page_bytes)?)
    }

    /// Reads a page into memory of the store; see [`Store::read`](crate::Store::read).
    ///
    /// # Errors
    /// As there, or the store was closed.
    pub fn read(&self, page: PageNumber) -> Result<Buffer, PageError> {
        self.read_into(page, self.buffer()?)
    }

    /// Reads a page into memory of the caller, as long as a page, such as that of the last read,
    /// which [`Buffer::thaw`] makes writable again. A page in the store's memory is returned in
    /// that memory instead.
    ///
    /// # Errors
    /// The memory has another length, or as for [`read`](BlockingStore::read).
    pub fn read_into(&self, page: PageNumber, into: BufferMut) -> Result<Buffer, PageError> {
        self.check_page(page)?;
        let (got, expected) = (into.len(), self.facts.page_bytes);
        if got != expected {
            return Err(PageError::PageLength { page, got, expected });
        }
        let outcome = match &self.reader {
            Some(reader) => reader.read(self.facts.label.inner(page).unwrap_or(page), into),
            None => Outcome::AskOwner(into),
        };
        match outcome {
            Outcome::Read(contents) => {
                debug_assert_eq!(contents.len(), expected, "{page} as the reader found it");
                Ok(contents)
            }
            // The store's thread allocates its own memory if needed.
            Outcome::AskOwner(unused) => {
                drop(unused);
                let contents = self.submit_read(page)?.wait()?;
                debug_assert_eq!(contents.len(), expected, "{page} as the store's thread found it");
                Ok(contents)
            }
        }
    }

    /// Reads pages as of one state, many of them concurrently; see
    /// [`Store::read_many`](crate::Store::read_many).
    ///
    /// # Errors
    /// As for [`read`](BlockingStore::read); the first error in this order.
    pub fn read_many(&self, pages: &[PageNumber]) -> Result<Vec<Buffer>, PageError> {
        let contents = self.submit_read_many(pages)?.wait()?;
        debug_assert_eq!(contents.len(), pages.len(), "an answer for each page");
        Ok(contents)
    }

    /// Starts to [read pages as of one state](BlockingStore::read_many), without waiting.
    ///
    /// # Errors
    /// A page is beyond the end, or the store was closed.
    pub fn submit_read_many(&self, pages: &[PageNumber]) -> Result<Ticket<Vec<Buffer>>, PageError> {
        let mut others = pages.iter().filter(|page| **page != PageNumber::HEADER);
        others.try_for_each(|page| self.check_page(*page))?;
        self.ask(|answer| Request::ReadMany(pages.to_vec(), answer))
    }

    /// Starts to read a page, without waiting.
    ///
    /// # Errors
    /// The page is beyond the end, or the store was closed.
    pub fn submit_read(&self, page: PageNumber) -> Result<Ticket<Buffer>, PageError> {
        self.check_page(page)?;
        self.ask(|answer| Request::Read(page, answer))
    }

    /// Header of the last batch that set one; see [`Store::header`](crate::Store::header).
    ///
    /// # Errors
    /// As there, or the store was closed.
    pub fn header(&self) -> Result<[u8; HEADER_BYTES], PageError> {
        self.ask(Request::Header)?.wait()
    }

    /// See [`Store::write`](crate::Store::write).
    ///
    /// # Errors
    /// As there, or the store was closed.
    pub fn write(&self, batch: Batch) -> Result<(), PageError> {
        self.ask(|answer| Request::Write(batch, answer))?.wait()
    }

    /// See [`Store::commit`](crate::Store::commit).
    ///
    /// # Errors
    /// As there, or the store was closed.
    pub fn commit(&self, batch: Batch) -> Result<BatchNumber, PageError> {
        self.submit_commit(batch)?.wait()
    }

    /// Starts to commit a batch, without waiting. Commits of one thread take effect in order. Waits
    /// only while at least a thousand requests are in progress.
    ///
    /// # Errors
    /// The store was closed.
    pub fn submit_commit(&self, batch: Batch) -> Result<Ticket<BatchNumber>, PageError> {
        self.ask(|answer| Request::Commit(batch, answer))
    }

    /// Makes everything accepted so far durable. Returns the number of the last batch.
    ///
    /// # Errors
    /// As for [`Store::sync`](crate::Store::sync), or the store was closed.
    pub fn sync(&self) -> Result<BatchNumber, PageError> {
        self.ask(Request::Sync)?.wait()
    }

    /// Writes every accepted page to its home place, durably, while commits continue.
    ///
    /// # Errors
    /// As for [`Store::checkpoint`](crate::Store::checkpoint), or the store was closed.
    pub fn checkpoint(&self) -> Result<(), PageError> {
        self.ask(Request::Checkpoint)?.wait()
    }

    /// Grows the store to `pages` pages while reads and commits continue; see
    /// [`Store::grow`](crate::Store::grow). A file must first be extended, and its device must
    /// [permit growth](nandle_io::DeviceFile::growing_to): [`PageStore`](crate::PageStore) does
    /// both.
    ///
    /// # Errors
    /// As there, or the store was closed.
    pub fn grow(&self, pages: u64) -> Result<(), PageError> {
        self.ask(|answer| Request::Grow(pages, answer))?.wait()?;
        debug_assert!(self.pages() >= pages, "callers may name {} pages of {pages}", self.pages());
        Ok(())
    }

    /// See [`Store::verify`](crate::Store::verify).
    ///
    /// # Errors
    /// As there, or the store was closed.
    pub fn verify(&self) -> Result<u64, PageError> {
        self.ask(Request::Verify)?.wait()
    }

    /// See [`Store::stats`](crate::Store::stats).
    ///
    /// # Errors
    /// The store was closed.
    pub fn stats(&self) -> Result<Stats, PageError> {
        let mut stats = self.ask(Request::Stats)?.wait()?;
        self.reader.iter().for_each(|reader: &std::sync::Arc<Reader>| reader.count(&mut stats));
        Ok(stats)
    }

    /// I/O interface, and features that the system doesn't support: without `io_uring` it is a
    /// thread pool. Reads in callers' threads are always blocking system calls.
    ///
    /// # Errors
    /// The store was closed.
    pub fn backend(&self) -> Result<Backend, PageError> {
        self.ask(Request::Backend)?.wait()
    }

    /// Reopens the store in place with the same options, after a failure stopped it
    /// ([`PageError::Latched`]). Recovers all acknowledged batches, for all handles. Calls in
    /// progress fail first. Does nothing if the store hasn't stopped, so every handle that met the
    /// failure may call it. For unacknowledged batches see [`Promises`](crate::Promises) and
    /// [`last_durable_batch`](BlockingStore::last_durable_batch).
    ///
    /// # Errors
    /// The opening fails; the store then stays stopped, and the call may be repeated. Or the store
    /// was closed.
    pub fn reopen(&self) -> Result<(), PageError> {
        self.ask(Request::Reopen)?.wait()
    }

    /// Makes everything durable, closes the store for all handles after their calls have ended, and
    /// waits for its thread.
    ///
    /// # Errors
    /// The device fails, or the store was closed before.
    pub fn close(self) -> Result<(), PageError> {
        let closed = self.ask(Request::Close)?.wait();
        self.thread.join()?;
        closed
    }

    fn check_page(&self, page: PageNumber) -> Result<(), PageError> {
        let pages = self.pages();
        if page.0 < pages { Ok(()) } else { Err(PageError::BeyondEnd { page, pages }) }
    }

    fn ask<T>(&self, request: impl FnOnce(Answer<T>) -> Request) -> Result<Ticket<T>, PageError> {
        let (answer, ticket) = ticket();
        self.requests.send(request(answer)).map_err(|_| closed())?;
        Ok(ticket)
    }
}
