//! The thread that owns the store's world.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::SyncSender;

use nandle_io::runtime::{Handle, Receiver, Runtime, Sender, channel};
use nandle_io::{DeviceFile, DeviceId, FileWorld, Io};

use super::{Change, Facts, Locked, Read, What};
use crate::{CreateOptions, OpenOptions, PageError, Store};

/// Requests in flight.
const SLOTS: u32 = 256;
/// Callers that may wait; more wait for room in the channel.
const CALLERS: usize = 1024;

type Opened = Result<(Sender<Change>, Sender<Read>, Facts), PageError>;

/// Opens the store, says whether that went well, and serves it until it is closed.
pub(super) fn run(
    file: &Locked,
    create: Option<&CreateOptions>,
    options: OpenOptions,
    opened: &SyncSender<Opened>,
) {
    let (world, device) = match world(Arc::clone(&file.0)) {
        Ok(world) => world,
        // Whoever asked may have gone, here and below.
        Err(error) => return drop(opened.send(Err(error))),
    };
    let runtime = Runtime::new(world);
    let handle = runtime.handle();
    runtime.block_on(async {
        let store = match create {
            Some(create) => Store::create(&handle, device, create, options).await,
            None => Store::open(&handle, device, options).await,
        };
        let store = match store {
            Ok(store) => Rc::new(store),
            Err(error) => {
                return drop(opened.send(Err(error)));
            }
        };
        let (changes, change_receiver) = channel(&handle, CALLERS);
        let (reads, read_receiver) = channel(&handle, CALLERS);
        let facts = Facts {
            arena: store.arena(),
            page_bytes: store.page_bytes(),
            pages: store.pages(),
            largest_batch: store.largest_batch(),
            policy: store.policy(),
        };
        if opened.send(Ok((changes, reads, facts))).is_ok() {
            let reader = handle.spawn_named(
                "page store: reads",
                serve_reads(handle.clone(), Rc::clone(&store), read_receiver),
            );
            serve_changes(&store, change_receiver).await;
            drop(reader);
        }
    });
}

/// The ring, or threads where the system has none, which [`BlockingStore::backend`](super::BlockingStore::backend) tells.
fn world(file: Arc<DeviceFile>) -> Result<(Box<dyn Io>, DeviceId), PageError> {
    let mut world = FileWorld::new(SLOTS).map_err(|source| PageError::World { source })?;
    let device = world.add(file);
    Ok((world.into_io(), device.id))
}

async fn serve_reads(handle: Handle, store: Rc<Store>, mut receiver: Receiver<Read>) {
    while let Some(read) = receiver.recv().await {
        let (store, world) = (Rc::clone(&store), handle.clone());
        handle.spawn_named("page store: a read", async move {
            // Whoever asked may have gone.
            match read {
                Read::Backend(reply) => _ = reply.send(Ok(world.backend())),
                Read::Page(page, reply) => _ = reply.send(store.read(page).await),
                Read::Verify(reply) => _ = reply.send(store.verify().await),
                Read::Stats(reply) => _ = reply.send(Ok(store.stats())),
            }
        });
    }
}

/// Takes what has come, does it in order, and makes all commits among it durable with one flush.
async fn serve_changes(store: &Store, mut receiver: Receiver<Change>) {
    let mut changes = Vec::new();
    while receiver.recv_many(&mut changes, CALLERS).await > 0 {
        let (mut committed, mut closing) = (Vec::new(), None);
        for Change { what, reply } in changes.drain(..) {
            match what {
                What::Write(batch) => _ = reply.send(store.write(batch).await),
                What::Commit(batch) => match store.write(batch).await {
                    Ok(()) => committed.push(reply),
                    Err(error) => _ = reply.send(Err(error)),
                },
                What::Checkpoint => _ = reply.send(store.checkpoint().await),
                What::Close => closing = Some(reply),
            }
        }
        if !committed.is_empty() || closing.is_some() {
            let synced = store.sync().await;
            for reply in committed {
                let _ = reply.send(synced.clone());
            }
            if let Some(reply) = closing {
                let closed = if synced == Err(PageError::ReadOnly) { Ok(()) } else { synced };
                let _ = reply.send(closed);
                return;
            }
        }
    }
}
