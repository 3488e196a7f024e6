//! Serves callers' requests, each in a task of its own.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use nandle_io::runtime::{Handle, Receiver};
use nandle_io::{Buffer, BufferMut, DeviceId};

use super::index_writer::IndexWriter;
use super::requests::Request;
use super::ticket::Answer;
use crate::signal::Signal;
use crate::{Batch, BatchNumber, OpenOptions, PageError, PageNumber, Store};

/// Maximum requests waiting, and maximum in progress. Callers beyond that wait for room in the
/// channel.
pub(super) const REQUESTS_MAX: usize = 1024;

/// Maximum commit groups in flight: one being flushed, and one to flush next. With a single group
/// the device would be idle while the next one is written. More groups would be smaller and cause
/// more flushes.
const COMMIT_GROUPS: usize = 2;

/// Parameters to reopen a store.
pub(super) struct Origin {
    pub(super) handle: Handle,
    pub(super) device: DeviceId,
    pub(super) options: OpenOptions,
}

/// State of the store visible to callers without a request.
pub(super) struct Shown {
    /// Number of pages available to callers.
    pub(super) pages: Arc<AtomicU64>,
    pub(super) last_durable_batch: Arc<AtomicU64>,
}

/// State shared by the tasks.
pub(super) struct Service {
    origin: Origin,
    /// Replaced when the store is reopened.
    store: RefCell<Rc<Store>>,
    index_writer: IndexWriter,
    shown: Shown,
    under_way: Cell<usize>,
    ended: Signal,
}

/// Counts a request until dropped.
struct UnderWay(Rc<Service>);

impl Drop for UnderWay {
    fn drop(&mut self) {
        debug_assert!(self.0.under_way.get() > 0, "a request that ends has begun");
        self.0.under_way.update(|requests| requests - 1);
        self.0.ended.notify();
    }
}

impl Service {
    pub(super) fn new(origin: Origin, store: Store, index_writer: IndexWriter, shown: Shown) -> Self {
        store.share_commits(COMMIT_GROUPS);
        let store = RefCell::new(Rc::new(store));
        Self { origin, store, index_writer, shown, under_way: Cell::default(), ended: Signal::default() }
    }

    fn store(&self) -> Rc<Store> {
        Rc::clone(&self.store.borrow())
    }

    /// Starts requests in order until the store is closed or no handle is left. Returns after all
    /// have ended.
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
                    Request::Reopen(answer) => {
                        this.until_under_way(0).await;
                        answer.give(this.reopen().await);
                    }
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

    /// Waits until at most `most` requests are in progress.
    async fn until_under_way(&self, most: usize) {
        self.ended.wait(|| (self.under_way.get() <= most).then_some(())).await;
    }

    /// Starts a request. Tasks are polled in the order of their start, and a call begins with its
    /// first poll, so changes take effect in the order of the requests.
    fn begin(self: &Rc<Self>, request: Request) {
        self.under_way.update(|requests| requests + 1);
        let this = UnderWay(Rc::clone(self));
        self.origin.handle.spawn_named("page store: a request", async move { this.0.answer(request).await });
    }

    async fn answer(self: &Rc<Self>, request: Request) {
        match request {
            Request::Read(page, answer) => answer.give(self.read(page).await),
            Request::ReadMany(pages, answer) => answer.give(self.read_many(pages).await),
            Request::Header(answer) => answer.give(self.store().header().await),
            Request::Write(batch, answer) => answer.give(self.write(batch).await),
            Request::Commit(batch, answer) => answer.give(self.commit(batch).await),
            Request::Sync(answer) => answer.give(self.store().sync().await),
            Request::Checkpoint(answer) => answer.give(self.store().checkpoint().await),
            Request::GrownBytes(pages, answer) => answer.give(self.store().grown_bytes(pages)),
            Request::Grow(pages, answer) => answer.give(self.grow(pages).await),
            Request::Verify(answer) => answer.give(self.store().verify().await),
            Request::Stats(answer) => answer.give(Ok(self.store().stats())),
            Request::Backend(answer) => answer.give(Ok(self.origin.handle.backend())),
            Request::Close(answer) | Request::Reopen(answer) => self.refuse(answer),
        }
    }

    fn refuse(&self, answer: Answer<()>) {
        debug_assert!(false, "a request of no task: {} are under way", self.under_way.get());
        answer.give(Err(super::closed()));
    }

    /// Reopens a stopped store, while no request is in progress.
    async fn reopen(&self) -> Result<(), PageError> {
        let stopped = self.store();
        if !stopped.has_stopped() {
            return Ok(());
        }
        stopped.quiesce().await;
        let Origin { handle, device, options } = &self.origin;
        let store = Store::open_with(handle, *device, *options, stopped.arena()).await?;
        store.share_commits(COMMIT_GROUPS);
        self.shown.pages.store(store.pages(), Ordering::SeqCst);
        self.shown.last_durable_batch.store(store.last_durable_batch().0, Ordering::SeqCst);
        self.index_writer.begin_era(&store);
        *self.store.borrow_mut() = Rc::new(store);
        Ok(())
    }

    async fn read(&self, page: PageNumber) -> Result<Buffer, PageError> {
        let into = self.store().buffer()?;
        self.read_with(page, into).await
    }

    async fn read_with(&self, page: PageNumber, into: BufferMut) -> Result<Buffer, PageError> {
        let store = self.store();
        let contents = store.read_with(page, into).await?;
        debug_assert_eq!(contents.len(), store.page_bytes(), "{page} is whole");
        self.index_writer.publish_outer(page, &store);
        Ok(contents)
    }

    async fn read_many(&self, pages: Vec<PageNumber>) -> Result<Vec<Buffer>, PageError> {
        let store = self.store();
        let contents = store.read_many(&pages).await?;
        for page in pages {
            self.index_writer.publish_outer(page, &store);
        }
        Ok(contents)
    }

    async fn write(&self, batch: Batch) -> Result<(), PageError> {
        let store = self.store();
        let pages = self.index_writer.begin(&batch, &store);
        let written = store.write(batch).await;
        self.index_writer.end(&pages, &store);
        written
    }

    /// Commits a batch. If the store serialises batches, their places are published before they are
    /// durable.
    async fn commit(&self, batch: Batch) -> Result<BatchNumber, PageError> {
        let store = self.store();
        if !store.keeps_order() {
            self.write(batch).await?;
            return store.sync().await;
        }
        let pages = self.index_writer.begin(&batch, &store);
        let committed = store.commit(batch).await;
        self.index_writer.end(&pages, &store);
        committed
    }

    async fn grow(&self, pages: u64) -> Result<(), PageError> {
        let store = self.store();
        store.grow(pages).await?;
        debug_assert!(store.pages() >= pages, "{} pages of {pages} are durable", store.pages());
        self.shown.pages.fetch_max(store.pages(), Ordering::SeqCst);
        Ok(())
    }

    /// Closes the store, which no task uses any more.
    async fn close(self: Rc<Self>) -> Result<(), PageError> {
        let requests = self.under_way.get();
        match Rc::try_unwrap(self).map(|this| Rc::try_unwrap(this.store.into_inner())) {
            Ok(Ok(store)) => store.close().await,
            Ok(Err(store)) => store.sync().await.map(drop),
            Err(this) => {
                debug_assert!(false, "{requests} requests are under way");
                this.store().sync().await.map(drop)
            }
        }
    }
}
