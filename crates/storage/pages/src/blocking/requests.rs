//! What callers ask of a store, and how they wait for it.

use std::sync::atomic::Ordering;

use nandle_io::{Backend, Buffer, BufferMut};

use super::reader::{Outcome, Reader};
use super::ticket::{Answer, Ticket, ticket};
use super::{BlockingStore, closed};
use crate::memory::memory_of;
use crate::{Batch, BatchNumber, HEADER_BYTES, PageError, PageNumber, PolicyKind, Promises, Stats};

/// What the store's thread is asked.
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
    /// How it writes.
    pub fn policy(&self) -> PolicyKind {
        self.facts.policy
    }

    /// What its policy promises.
    pub fn promises(&self) -> Promises {
        self.facts.promises
    }

    /// Length of a page.
    pub fn page_bytes(&self) -> usize {
        self.facts.page_bytes
    }

    /// See [`Store::last_durable_batch`](crate::Store::last_durable_batch).
    pub fn last_durable_batch(&self) -> BatchNumber {
        BatchNumber(self.facts.last_durable_batch.load(Ordering::SeqCst))
    }

    /// How many pages it has.
    pub fn pages(&self) -> u64 {
        self.facts.pages.load(Ordering::SeqCst)
    }

    /// How long the device must be for so many pages. Under `out-of-place` that depends on the growths before, so who has a file
    /// made longer lets no other handle grow the store meanwhile.
    ///
    /// # Errors
    /// The store can't [grow](BlockingStore::grow) to so many, or was closed.
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
    /// The system has no memory left.
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

    /// Reads a page into memory of the caller's, as long as a page: that of the last read, say, which
    /// [`Buffer::thaw`] makes writable again. A page that is in the store's memory comes in that.
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
            // The store's thread takes memory of its own, if it takes any.
            Outcome::AskOwner(unused) => {
                drop(unused);
                let contents = self.submit_read(page)?.wait()?;
                debug_assert_eq!(contents.len(), expected, "{page} as the store's thread found it");
                Ok(contents)
            }
        }
    }

    /// Reads pages of one state, many of them on their way to the device at the same time; see
    /// [`Store::read_many`](crate::Store::read_many).
    ///
    /// # Errors
    /// As for [`read`](BlockingStore::read), the first in this order.
    pub fn read_many(&self, pages: &[PageNumber]) -> Result<Vec<Buffer>, PageError> {
        let contents = self.submit_read_many(pages)?.wait()?;
        debug_assert_eq!(contents.len(), pages.len(), "an answer for each page");
        Ok(contents)
    }

    /// Begins to [read pages of one state](BlockingStore::read_many), and doesn't wait for them.
    ///
    /// # Errors
    /// A page is beyond the end, or the store was closed.
    pub fn submit_read_many(&self, pages: &[PageNumber]) -> Result<Ticket<Vec<Buffer>>, PageError> {
        let mut others = pages.iter().filter(|page| **page != PageNumber::HEADER);
        others.try_for_each(|page| self.check_page(*page))?;
        self.ask(|answer| Request::ReadMany(pages.to_vec(), answer))
    }

    /// Begins to read a page, and doesn't wait for it.
    ///
    /// # Errors
    /// The page is beyond the end, or the store was closed.
    pub fn submit_read(&self, page: PageNumber) -> Result<Ticket<Buffer>, PageError> {
        self.check_page(page)?;
        self.ask(|answer| Request::Read(page, answer))
    }

    /// The header that a batch has set last; see [`Store::header`](crate::Store::header).
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

    /// Begins to commit a batch, and doesn't wait for it; what one thread submits takes effect in that order. Waits only while
    /// a thousand requests and more are under way.
    ///
    /// # Errors
    /// The store was closed.
    pub fn submit_commit(&self, batch: Batch) -> Result<Ticket<BatchNumber>, PageError> {
        self.ask(|answer| Request::Commit(batch, answer))
    }

    /// Makes everything durable that was accepted before, and returns the number of the last batch of it.
    ///
    /// # Errors
    /// As for [`Store::sync`](crate::Store::sync), or the store was closed.
    pub fn sync(&self) -> Result<BatchNumber, PageError> {
        self.ask(Request::Sync)?.wait()
    }

    /// Brings every page that was accepted before to its own place, durably, while commits go on.
    ///
    /// # Errors
    /// As for [`Store::checkpoint`](crate::Store::checkpoint), or the store was closed.
    pub fn checkpoint(&self) -> Result<(), PageError> {
        self.ask(Request::Checkpoint)?.wait()
    }

    /// Gives the store more pages, `pages` in all, while reads and commits go on; see [`Store::grow`](crate::Store::grow). A
    /// file must have been made longer before, and its device [allowed to grow](nandle_io::DeviceFile::growing_to) when it was made:
    /// [`PageStore`](crate::PageStore) does both.
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

    /// The world that it does its I/O in, and what that had to give up: on a system without `io_uring` it is a pool of
    /// threads. Reads in the callers' threads are blocking system calls in any case.
    ///
    /// # Errors
    /// The store was closed.
    pub fn backend(&self) -> Result<Backend, PageError> {
        self.ask(Request::Backend)?.wait()
    }

    /// Opens the store again, in place and with the same options, after a failure has stopped it ([`PageError::Latched`]): it
    /// recovers what was acknowledged, for all handles. Calls that are under way fail first. Does nothing where the store hasn't
    /// stopped, so every handle that met the failure may call it. What of unacknowledged batches is there afterwards, see
    /// [`Promises`](crate::Promises); [`last_durable_batch`](BlockingStore::last_durable_batch) tells of it.
    ///
    /// # Errors
    /// The opening fails: then the store stays as it is, and this may be called again. Or the store was closed.
    pub fn reopen(&self) -> Result<(), PageError> {
        self.ask(Request::Reopen)?.wait()
    }

    /// Makes everything durable, ends the store for all handles when what is under way is done, and waits for its thread.
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
