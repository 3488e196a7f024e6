//! Does what callers ask, each request in a task of its own.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use nandle_io::runtime::{Handle, Receiver};
use nandle_io::{Buffer, BufferMut};

use super::index_writer::IndexWriter;
use super::memory_of_many::{self, MemoryOfMany};
use super::requests::Request;
use super::ticket::Answer;
use crate::signal::Signal;
use crate::{Batch, PageError, PageNumber, Store};

/// Requests that may wait, and as many that may be under way; more wait for room in the channel.
pub(super) const REQUESTS_MAX: usize = 1024;

/// Groups of commits on their way at the same time, and flushes at the device: one that goes on, and one that begins when it
/// ends. With one alone the device would be idle until the next group was written; with more, groups are smaller and flushes
/// more.
const COMMIT_GROUPS: usize = 2;

/// Pages of one call that are on their way to the device at the same time, at most.
const READS_AT_ONCE: usize = 256;

/// What the tasks share.
pub(super) struct Service {
    handle: Handle,
    store: Store,
    index_writer: IndexWriter,
    /// How many pages callers may name.
    pages: Arc<AtomicU64>,
    under_way: Cell<usize>,
    ended: Signal,
}

/// A request, as long as it is under way.
struct UnderWay(Rc<Service>);

impl Drop for UnderWay {
    fn drop(&mut self) {
        debug_assert!(self.0.under_way.get() > 0, "a request that ends has begun");
        self.0.under_way.update(|requests| requests - 1);
        self.0.ended.notify();
    }
}

impl Service {
    pub(super) fn new(
        handle: Handle,
        store: Store,
        index_writer: IndexWriter,
        pages: Arc<AtomicU64>,
    ) -> Self {
        store.share_commits(COMMIT_GROUPS);
        Self { handle, store, index_writer, pages, under_way: Cell::default(), ended: Signal::default() }
    }

    /// Begins requests in their order, until the store is closed or no handle is left; ends when all are done.
    pub(super) async fn serve(self, mut receiver: Receiver<Request>) {
        let this = Rc::new(self);
        let mut requests = Vec::new();
        let closing = 'open: loop {
            if receiver.recv_many(&mut requests, REQUESTS_MAX).await == 0 {
                break None;
            }
            debug_assert!(requests.len() <= REQUESTS_MAX, "{} requests are begun at once", requests.len());
            for request in requests.drain(..) {
                match request {
                    Request::Close(answer) => break 'open Some(answer),
                    request => this.begin(request),
                }
            }
            this.until_under_way(REQUESTS_MAX).await;
        };
        this.index_writer.close();
        drop(receiver);
        requests.clear();
        this.until_under_way(0).await;
        if let Some(answer) = closing {
            answer.give(this.close().await);
        }
    }

    /// Waits until so many requests are under way at most.
    async fn until_under_way(&self, most: usize) {
        self.ended.wait(|| (self.under_way.get() <= most).then_some(())).await;
    }

    /// A task that is spawned earlier is polled earlier, and a call begins with its first poll: so changes take effect in the
    /// order of the requests.
    fn begin(self: &Rc<Self>, request: Request) {
        self.under_way.update(|requests| requests + 1);
        let this = UnderWay(Rc::clone(self));
        self.handle.spawn_named("page store: a request", async move { this.0.answer(request).await });
    }

    async fn answer(self: &Rc<Self>, request: Request) {
        match request {
            Request::Read(page, answer) => answer.give(self.read(page).await),
            Request::ReadMany(pages, answer) => answer.give(self.read_many(pages).await),
            Request::Write(batch, answer) => answer.give(self.write(batch).await),
            Request::Commit(batch, answer) => answer.give(self.commit(batch).await),
            Request::Sync(answer) => answer.give(self.store.sync().await),
            Request::Checkpoint(answer) => answer.give(self.store.checkpoint().await),
            Request::Grow(pages, answer) => answer.give(self.grow(pages).await),
            Request::Verify(answer) => answer.give(self.store.verify().await),
            Request::Stats(answer) => answer.give(Ok(self.store.stats())),
            Request::Backend(answer) => answer.give(Ok(self.handle.backend())),
            Request::Close(answer) => self.refuse_close(answer),
        }
    }

    fn refuse_close(&self, answer: Answer<()>) {
        debug_assert!(false, "a request to close is no task's: {} are under way", self.under_way.get());
        answer.give(Err(super::closed()));
    }

    async fn read(&self, page: PageNumber) -> Result<Buffer, PageError> {
        self.read_with(page, self.store.buffer()?).await
    }

    async fn read_with(&self, page: PageNumber, into: BufferMut) -> Result<Buffer, PageError> {
        let contents = self.store.read_with(page, into).await?;
        debug_assert_eq!(contents.len(), self.store.page_bytes(), "{page} is whole");
        self.index_writer.publish(page, &self.store);
        Ok(contents)
    }

    /// In rounds, so that no call has the device for itself, or all the memory in which packed pages are unpacked.
    async fn read_many(self: &Rc<Self>, pages: Vec<PageNumber>) -> Result<Vec<Buffer>, PageError> {
        let mut memory = MemoryOfMany::new(&self.store, pages.len())?;
        let mut contents = Vec::with_capacity(pages.len());
        let at_once = memory_of_many::share_pages(&self.store).clamp(1, READS_AT_ONCE);
        for round in pages.chunks(at_once) {
            contents.extend(self.read_round(round, &mut memory).await?);
        }
        debug_assert_eq!(contents.len(), pages.len(), "every page was read");
        Ok(contents)
    }

    async fn read_round(
        self: &Rc<Self>,
        pages: &[PageNumber],
        memory: &mut MemoryOfMany,
    ) -> Result<Vec<Buffer>, PageError> {
        let mut coming = Vec::with_capacity(pages.len());
        let mut result = Ok(());
        for &page in pages {
            let into = match memory.page(&self.store) {
                Ok(into) => into,
                Err(error) => {
                    result = Err(error);
                    break;
                }
            };
            let this = Rc::clone(self);
            let read = async move { this.read_with(page, into).await };
            coming.push(self.handle.spawn_named("page store: a read of many", read));
        }
        let mut contents = Vec::with_capacity(coming.len());
        // All of them, so that none is left when this is done.
        for read in coming {
            match read.await {
                Ok(page) => contents.push(page),
                Err(error) => result = result.and(Err(error)),
            }
        }
        debug_assert!(result.is_err() || contents.len() == pages.len(), "{} of {pages:?}", contents.len());
        result.map(|()| contents)
    }

    async fn write(&self, batch: Batch) -> Result<(), PageError> {
        let pages = self.index_writer.begin(&batch, self.store.pages());
        let written = self.store.write(batch).await;
        self.index_writer.end(&pages, &self.store);
        written
    }

    /// Where batches are accepted one after the other, readers learn where the pages are before they are durable.
    async fn commit(&self, batch: Batch) -> Result<(), PageError> {
        if !self.store.keeps_order() {
            self.write(batch).await?;
            return self.store.sync().await;
        }
        let pages = self.index_writer.begin(&batch, self.store.pages());
        let committed = self.store.commit(batch).await;
        self.index_writer.end(&pages, &self.store);
        committed
    }

    async fn grow(&self, pages: u64) -> Result<(), PageError> {
        self.store.grow(pages).await?;
        debug_assert!(self.store.pages() >= pages, "{} pages of {pages} are durable", self.store.pages());
        self.pages.fetch_max(self.store.pages(), Ordering::SeqCst);
        Ok(())
    }

    /// Closes the store, which no task uses any more.
    async fn close(self: Rc<Self>) -> Result<(), PageError> {
        match Rc::try_unwrap(self) {
            Ok(this) => this.store.close().await,
            Err(this) => {
                debug_assert!(false, "{} requests are under way", this.under_way.get());
                this.store.sync().await
            }
        }
    }
}
