//! Interfaces of a page store, each used on a file as a program would.

use std::fmt;
use std::fs::File;
use std::future::poll_fn;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use nandle_io::runtime::Runtime;
use nandle_io::{BufferMut, DeviceFile, FileOptions, FileWorld};
use nandle_pages::{
    Batch, BlockingStore, CreateOptions, OpenOptions, PageError, PageNumber, PageOptions, PageStore,
    PolicyKind, Store, WriteCosts,
};

use crate::contents::fill;

pub(super) const PAGES: u64 = 24;
/// Maximum number of pages.
const PAGES_MAX: u64 = 64;
const PAGE_BYTES: usize = 4096;
const BUFFER_BYTES: u64 = 32 * PAGE_BYTES as u64;
const MEMORY_BYTES: usize = 1 << 20;

/// An interface of a page store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interface {
    /// [`PageStore`].
    PageStore,
    /// [`BlockingStore`].
    BlockingStore,
    /// [`Store`].
    Store,
}

impl Interface {
    /// All interfaces.
    pub const ALL: [Self; 3] = [Self::PageStore, Self::BlockingStore, Self::Store];
}

impl fmt::Display for Interface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::PageStore => "PageStore",
            Self::BlockingStore => "BlockingStore",
            Self::Store => "Store",
        })
    }
}

/// A failed call.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    /// A call of the store.
    #[error(transparent)]
    Store(#[from] PageError),
    /// A call of the program on its own file.
    #[error("the program's own call: {0}")]
    Own(#[from] std::io::Error),
}

type Outcome<T> = Result<T, Failure>;

/// An open store.
pub(super) trait Client {
    /// Commits a version of these pages.
    fn commit(&mut self, pages: &[u64], version: u64) -> Outcome<()>;
    /// Grows the store during `commits`, each of which writes a version of one page.
    fn grow_beside(&mut self, pages: u64, commits: &[(u64, u64)]) -> (Outcome<()>, Vec<Outcome<()>>);
    fn checkpoint(&mut self) -> Outcome<()>;
    fn read(&mut self, page: u64) -> Outcome<Vec<u8>>;
    fn pages(&self) -> u64;
    fn close(self: Box<Self>) -> Outcome<()>;
}

fn create_options(policy: PolicyKind) -> CreateOptions {
    CreateOptions {
        pages_max: Some(PAGES_MAX),
        alignment_bytes: PAGE_BYTES as u64,
        ..CreateOptions::new(policy, PAGE_BYTES, PAGES).with_buffer_bytes(BUFFER_BYTES)
    }
}

fn open_options() -> OpenOptions {
    let costs = WriteCosts { mapping_unit_bytes: PAGE_BYTES as u64, ..WriteCosts::default() };
    OpenOptions { memory_bytes: MEMORY_BYTES, gather_bytes: 0, costs, ..OpenOptions::default() }
}

/// Creates a store in a new file.
pub(super) fn create(interface: Interface, path: &Path, policy: PolicyKind) -> Outcome<Box<dyn Client>> {
    match interface {
        Interface::PageStore => {
            let options = PageOptions::new(PAGES).with_pages_max(PAGES_MAX).with_policy(policy);
            let options = options.with_buffer_bytes(BUFFER_BYTES).with_open(open_options());
            Ok(Box::new(PageStore::create(path, options)?))
        }
        Interface::BlockingStore | Interface::Store => {
            let options = create_options(policy);
            let file = File::options().read(true).write(true).create_new(true).open(path)?;
            file.set_len(options.device_bytes()?)?;
            let folder = path.parent().unwrap_or(Path::new("."));
            File::open(folder)?.sync_all()?;
            on_file(interface, path, file, Some(options))
        }
    }
}

pub(super) fn open(interface: Interface, path: &Path) -> Outcome<Box<dyn Client>> {
    if interface == Interface::PageStore {
        return Ok(Box::new(PageStore::open_with(path, open_options())?));
    }
    on_file(interface, path, File::options().read(true).write(true).open(path)?, None)
}

fn on_file(
    interface: Interface,
    path: &Path,
    file: File,
    create: Option<CreateOptions>,
) -> Outcome<Box<dyn Client>> {
    let device = DeviceFile::new(file, FileOptions::default()).map_err(std::io::Error::other)?;
    let device = Arc::new(device.growing_to(i64::MAX.cast_unsigned()));
    let path = path.to_owned();
    if interface == Interface::Store {
        return Ok(Box::new(OwnRuntime::new(path, device, create)?));
    }
    let store = match create {
        Some(create) => BlockingStore::create(device, create, open_options())?,
        None => BlockingStore::open(device, open_options())?,
    };
    Ok(Box::new(Threaded { store, path }))
}

fn contents(page: u64, version: u64) -> Vec<u8> {
    let mut contents = vec![0; PAGE_BYTES];
    fill(&mut contents, page, version);
    contents
}

impl Client for PageStore {
    fn commit(&mut self, pages: &[u64], version: u64) -> Outcome<()> {
        for page in pages {
            self.put(*page, &contents(*page, version))?;
        }
        Ok(self.commit().map(drop)?)
    }

    fn grow_beside(&mut self, pages: u64, commits: &[(u64, u64)]) -> (Outcome<()>, Vec<Outcome<()>>) {
        let mut other = self.clone();
        let (first_commit, wait) = std::sync::mpsc::channel();
        std::thread::scope(|scope| {
            let committing = scope.spawn(move || {
                let mut commit = |(page, version): &(u64, u64)| {
                    let committed = Client::commit(&mut other, &[*page], *version);
                    // The receiver waits for the first commit only.
                    let _ = first_commit.send(());
                    committed
                };
                commits.iter().map(&mut commit).collect()
            });
            // Ensures that the other commits are in flight.
            let _ = wait.recv();
            let grown = Self::grow(self, pages).map_err(Into::into);
            (grown, committing.join().unwrap_or_else(|panic| resume_unwind(panic)))
        })
    }

    fn checkpoint(&mut self) -> Outcome<()> {
        Ok(Self::checkpoint(self)?)
    }

    fn read(&mut self, page: u64) -> Outcome<Vec<u8>> {
        Ok(Self::read(self, page)?)
    }

    fn pages(&self) -> u64 {
        Self::pages(self)
    }

    fn close(self: Box<Self>) -> Outcome<()> {
        Ok(Self::close(*self)?)
    }
}

struct Threaded {
    store: BlockingStore,
    path: PathBuf,
}

/// Extends a file to `bytes`. The store must make the new length durable.
fn lengthen_to(path: &Path, bytes: u64) -> Outcome<()> {
    let file = File::options().write(true).open(path)?;
    let longer_bytes = file.metadata()?.len().max(bytes);
    Ok(file.set_len(longer_bytes)?)
}

fn batch(
    buffer: impl Fn() -> Result<BufferMut, PageError>,
    pages: &[u64],
    version: u64,
) -> Result<Batch, PageError> {
    let mut batch = Batch::new();
    for page in pages {
        let mut buffer = buffer()?;
        fill(&mut buffer, *page, version);
        batch.put(PageNumber(*page), buffer.freeze());
    }
    Ok(batch)
}

/// Awaits all futures concurrently.
async fn all_of<T>(mut futures: Vec<Pin<Box<dyn Future<Output = T> + '_>>>) -> Vec<T> {
    let mut outputs: Vec<Option<T>> = futures.iter().map(|_| None).collect();
    poll_fn(|context| {
        for (future, output) in futures.iter_mut().zip(&mut outputs) {
            if output.is_none()
                && let Poll::Ready(done) = future.as_mut().poll(context)
            {
                *output = Some(done);
            }
        }
        if outputs.iter().all(Option::is_some) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    outputs.into_iter().flatten().collect()
}

impl Client for Threaded {
    fn commit(&mut self, pages: &[u64], version: u64) -> Outcome<()> {
        Ok(self.store.commit(batch(|| self.store.buffer(), pages, version)?).map(drop)?)
    }

    fn grow_beside(&mut self, pages: u64, commits: &[(u64, u64)]) -> (Outcome<()>, Vec<Outcome<()>>) {
        let submit = |(page, version): &(u64, u64)| -> Outcome<_> {
            Ok(self.store.submit_commit(batch(|| self.store.buffer(), &[*page], *version)?)?)
        };
        let tickets: Vec<_> = commits.iter().map(submit).collect();
        let bytes = self.store.device_bytes(pages).map_err(Failure::from);
        let grown = bytes
            .and_then(|bytes| lengthen_to(&self.path, bytes))
            .and_then(|()| self.store.grow(pages).map_err(Into::into));
        let committed = tickets.into_iter().map(|ticket| Ok(ticket?.wait().map(drop)?)).collect();
        (grown, committed)
    }

    fn checkpoint(&mut self) -> Outcome<()> {
        Ok(self.store.checkpoint()?)
    }

    fn read(&mut self, page: u64) -> Outcome<Vec<u8>> {
        Ok(self.store.read(PageNumber(page))?.to_vec())
    }

    fn pages(&self) -> u64 {
        self.store.pages()
    }

    fn close(self: Box<Self>) -> Outcome<()> {
        Ok(self.store.close()?)
    }
}

/// A store in a runtime of its own, which is dropped last.
struct OwnRuntime {
    store: Store,
    path: PathBuf,
    runtime: Runtime,
}

impl OwnRuntime {
    fn new(path: PathBuf, device: Arc<DeviceFile>, create: Option<CreateOptions>) -> Outcome<Self> {
        let mut world = FileWorld::new(64).map_err(std::io::Error::other)?;
        let device = world.add(device).id;
        let runtime = Runtime::new(world.into_io());
        let handle = runtime.handle();
        let store = runtime.block_on(async {
            match create {
                Some(create) => Store::create(&handle, device, &create, open_options()).await,
                None => Store::open(&handle, device, open_options()).await,
            }
        })?;
        Ok(Self { store, path, runtime })
    }
}

impl Client for OwnRuntime {
    fn commit(&mut self, pages: &[u64], version: u64) -> Outcome<()> {
        let batch = batch(|| self.store.buffer(), pages, version)?;
        Ok(self.runtime.block_on(self.store.commit(batch)).map(drop)?)
    }

    fn grow_beside(&mut self, pages: u64, commits: &[(u64, u64)]) -> (Outcome<()>, Vec<Outcome<()>>) {
        let store = &self.store;
        let commit = async |page: u64, version: u64| -> Outcome<()> {
            Ok(store.commit(batch(|| store.buffer(), &[page], version)?).await.map(drop)?)
        };
        let growing = async {
            lengthen_to(&self.path, store.grown_bytes(pages)?)?;
            Ok(store.grow(pages).await?)
        };
        let mut all: Vec<Pin<Box<dyn Future<Output = Outcome<()>> + '_>>> = vec![Box::pin(growing)];
        for (page, version) in commits {
            all.push(Box::pin(commit(*page, *version)));
        }
        let mut outcomes = self.runtime.block_on(all_of(all));
        (outcomes.remove(0), outcomes)
    }

    fn checkpoint(&mut self) -> Outcome<()> {
        Ok(self.runtime.block_on(self.store.checkpoint())?)
    }

    fn read(&mut self, page: u64) -> Outcome<Vec<u8>> {
        Ok(self.runtime.block_on(self.store.read(PageNumber(page)))?.to_vec())
    }

    fn pages(&self) -> u64 {
        self.store.pages()
    }

    fn close(self: Box<Self>) -> Outcome<()> {
        let Self { store, runtime, .. } = *self;
        Ok(runtime.block_on(store.close())?)
    }
}
