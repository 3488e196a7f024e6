//! Thread that owns the store and its world.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use nandle_io::runtime::{Handle, Runtime, channel};
use nandle_io::{DeviceFile, DeviceId, FileLock, FileWorld, Io};

use super::index::PageIndex;
use super::index_writer::IndexWriter;
use super::reader::Reader;
use super::serve::{Origin, REQUESTS_MAX, Service, Shown};
use super::ticket::Answer;
use super::{Facts, Opened};
use crate::{CreateOptions, OpenOptions, PageError, Store};

/// Requests in flight.
const SLOTS: u32 = 256;

/// I/O world of a store's thread.
pub(super) struct World {
    io: Box<dyn Io>,
    device: DeviceId,
    /// File that other threads may read, with its lock.
    file: Option<(Arc<DeviceFile>, FileLock)>,
}

impl World {
    /// World of a file: `io_uring`, or a thread pool where the system lacks it.
    /// [`BlockingStore::backend`](super::BlockingStore::backend) reports which.
    pub(super) fn of_file(lock: FileLock) -> Result<Self, PageError> {
        let mut world = FileWorld::new(SLOTS).map_err(|source| PageError::World { source })?;
        let file = Arc::clone(lock.file());
        let device = world.add(Arc::clone(&file)).id;
        Ok(Self { io: world.into_io(), device, file: Some((file, lock)) })
    }

    /// Wraps the I/O of this world.
    #[cfg(test)]
    pub(super) fn through(self, around: impl FnOnce(Box<dyn Io>) -> Box<dyn Io>) -> Self {
        Self { io: around(self.io), ..self }
    }

    pub(super) fn of((mut io, device): (Box<dyn Io>, DeviceId)) -> Result<Self, PageError> {
        match io.waker() {
            Some(_) => Ok(Self { io, device, file: None }),
            None => Err(PageError::Thread {
                why: format!(
                    "no other thread can wake a world of {}; it is for `Store` alone",
                    io.backend().name
                ),
            }),
        }
    }
}

/// Opens the store, reports the result, and serves requests until it is closed.
pub(super) fn run(
    world: impl FnOnce() -> Result<World, PageError>,
    create: Option<&CreateOptions>,
    options: OpenOptions,
    opened: Answer<Opened>,
) {
    let World { io, device, file } = match world() {
        Ok(world) => world,
        Err(error) => return opened.give(Err(error)),
    };
    // The lock outlives the world, which may have requests in flight.
    let (file, _lock) = file.unzip();
    let runtime = Runtime::new(io);
    let handle = runtime.handle();
    runtime.block_on(async {
        let store = match create {
            Some(create) => Store::create(&handle, device, create, options).await,
            None => Store::open(&handle, device, options).await,
        };
        match store {
            Ok(store) => serve(&handle, (device, options), store, file, opened).await,
            Err(error) => opened.give(Err(error)),
        }
    });
}

async fn serve(
    handle: &Handle,
    (device, options): (DeviceId, OpenOptions),
    store: Store,
    file: Option<Arc<DeviceFile>>,
    opened: Answer<Opened>,
) {
    let (requests, receiver) = channel(handle, REQUESTS_MAX);
    let index = PageIndex::new(store.page_bytes(), store.homes_offset_bytes());
    let index = Arc::new(index);
    let _closing = CloseAtEnd(Arc::clone(&index));
    let index_writer = IndexWriter::new(Arc::clone(&index), &store);
    let facts = Facts {
        arena: store.arena(),
        page_bytes: store.page_bytes(),
        pages: Arc::new(AtomicU64::new(store.pages())),
        label: store.label().clone(),
        largest_batch: store.largest_batch(),
        policy: store.policy(),
        last_durable_batch: Arc::new(AtomicU64::new(store.last_durable_batch().0)),
        promises: store.promises(),
    };
    debug_assert!(facts.largest_batch > 0, "a commit of one page is never too large");
    let shown =
        Shown { pages: Arc::clone(&facts.pages), last_durable_batch: Arc::clone(&facts.last_durable_batch) };
    let reader = file.map(|file| Arc::new(Reader::new(file, index, facts.page_bytes)));
    opened.give(Ok(Opened { requests, facts, reader }));
    let origin = Origin { handle: handle.clone(), device, options };
    Service::new(origin, store, index_writer, shown).serve(receiver).await;
}

/// Ends reads outside the store's thread however that thread ends.
struct CloseAtEnd(Arc<PageIndex>);

impl Drop for CloseAtEnd {
    fn drop(&mut self) {
        self.0.close();
    }
}
