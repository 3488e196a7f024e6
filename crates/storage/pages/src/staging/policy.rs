use std::future::{Future, ready};
use std::pin::Pin;
use std::rc::Rc;

use nandle_io::{Buffer, BufferMut, WriteBuffers};
use rustc_hash::FxHashSet;

use super::config::StagingConfig;
use super::engine::Engine;
use super::header::Header;
use super::space::Slot;
use super::{recover, renew};
use crate::defects::Defect;
use crate::home::Place;
use crate::memory::memory_of;
use crate::policy::{Parts, Policy, Task};
use crate::size::to_u32;
use crate::write_log::{Context, Found, From};
use crate::{BLOCK_BYTES, Batch, BatchNumber, PageError, PageNumber, Stats};

/// Policy that stages pages; see the [module](super).
pub(crate) struct Staging {
    engine: Rc<Engine>,
    opened_batch: BatchNumber,
}

impl Staging {
    /// Opens and recovers the staging area of a store.
    pub(crate) async fn open(parts: Parts, config: StagingConfig) -> Result<Self, PageError> {
        let mut recovered = recover::recover(&parts, config.placement).await?;
        let is_read_only = parts.options.read_only;
        if is_read_only {
            recovered = recovered.with_tail();
        }
        let tail = std::mem::take(&mut recovered.tail);
        let of_ledger = recovered.blocks.ledger_durable;
        let restored = std::mem::take(&mut recovered.restored);
        let engine = Engine::new(Context::new(parts), config, recovered);
        if !is_read_only {
            // Background tasks must stop after a failure.
            let begun = begin(&engine, &restored, &tail).await;
            begun.inspect_err(|error| engine.context.disk.latch(error))?;
        }
        // Batches that may be volatile became durable only by the renewal.
        let opened = if is_read_only { engine.log.tail.written() } else { engine.log.tail.durable() };
        let opened_batch =
            BatchNumber(if Defect::BatchNumbersGoBack.is_seeded() { of_ledger } else { opened });
        Ok(Self { engine, opened_batch })
    }

    /// Capacity of the staging area in pages, without headers.
    pub(crate) fn room_pages(&self) -> u64 {
        self.engine.reclaimer.blocks() / self.engine.context.label.page_blocks()
    }

    /// Returns true if any page is staged.
    pub(crate) fn has_staged(&self) -> bool {
        self.engine.log.versions().len() > 0
    }

    /// Makes accepted batches and the dead slots durable. Returns the pages that a recovery may
    /// find in the staging area afterwards, and those being destaged. Requires that no call writes.
    pub(crate) async fn persist_dead_slots(&self) -> Result<FxHashSet<PageNumber>, PageError> {
        self.engine.make_durable().await?;
        // Collected before the ledger: pages destaged meanwhile become dead in the next ledger. A
        // page discarded during its destage still arrives home.
        let mut alive = self.engine.destager.destaging();
        alive.extend(self.engine.log.versions().pages());
        debug_assert!(alive.len() >= self.engine.log.versions().len(), "each page is staged as one version");
        // No call writes, so there is no flush to share.
        let _urgent = self.engine.reclaimer.urgency.begin();
        if !Defect::DeadSlotsNotPersisted.is_seeded() {
            self.engine.reclaimer.reclaim().await?;
        }
        Ok(alive)
    }

    /// Destages all readable pages.
    pub(crate) async fn destage_all(&self) -> Result<(), PageError> {
        self.engine.make_durable().await?;
        // Destaging must finish even if the caller is dropped.
        let destager = Rc::clone(&self.engine.destager);
        let destaging = async move { destager.destage_everything().await };
        self.engine.context.disk.handle().spawn_named("page store: checkpoint", destaging).await
    }

    /// Destages all staged pages in the background.
    pub(crate) fn clear(&self) {
        self.engine.destager.clear();
    }

    /// Returns true while [`clear`](Self::clear) is running.
    pub(crate) fn is_clearing(&self) -> bool {
        self.engine.destager.is_clearing()
    }

    async fn read_newest(&self, page: PageNumber, into: BufferMut, from: From) -> Result<Buffer, PageError> {
        let Engine { context, log, .. } = &*self.engine;
        let fetch = async |slot: &Slot, into| context.read_slot(*slot, into).await;
        match log.read(page, into, from, fetch).await? {
            Ok(contents) => Ok(contents),
            Err(into) => context.home.read(page, into).await,
        }
    }
}

/// Writes of an opening before calls may write.
async fn begin(engine: &Rc<Engine>, restored: &[Header], tail: &[Header]) -> Result<(), PageError> {
    restore(engine, restored).await?;
    renew::begin(engine, tail).await
}

/// Rewrites bad headers of a closed store at their places. Until something else is written the
/// directory also holds them.
async fn restore(engine: &Engine, headers: &[Header]) -> Result<(), PageError> {
    let Context { disk, label, arena, .. } = &*engine.context;
    for header in headers {
        let mut block = memory_of(arena, BLOCK_BYTES)?;
        block.copy_from_slice(&header.encoded(label.id));
        let from: WriteBuffers = [block.freeze()].into_iter().collect();
        disk.write("restoring a header from the directory", label.offset_of(header.position), from).await?;
    }
    if headers.is_empty() { Ok(()) } else { disk.flush().await }
}

impl Policy for Staging {
    fn write(&self, batch: Batch) -> Task<'_, ()> {
        // Most batches need no wait, and an empty future is small.
        match self.engine.take_in(batch) {
            Ok(()) => Box::pin(ready(Ok(()))),
            Err(batch) => Box::pin(self.engine.accept(batch)),
        }
    }

    fn sync(&self) -> Task<'_, BatchNumber> {
        Box::pin(async { self.engine.make_durable().await.map(BatchNumber) })
    }

    fn opened_batch(&self) -> BatchNumber {
        self.opened_batch
    }

    fn read(&self, page: PageNumber, into: BufferMut) -> Task<'_, Buffer> {
        Box::pin(self.read_newest(page, into, From::Memory))
    }

    fn verify(&self, page: PageNumber, into: BufferMut) -> Task<'_, Buffer> {
        Box::pin(self.read_newest(page, into, From::Device))
    }

    fn locate(&self, page: PageNumber) -> Option<Place> {
        let Engine { context, log, .. } = &*self.engine;
        match log.find(page, From::Memory) {
            Found::InMemory(_) => None,
            Found::Absent => context.home.locate(page),
            Found::Stored(stored) => {
                let stored_bytes = to_u32(context.label.page_bytes);
                let offset_bytes = context.offset_of(stored.place);
                Some(Place { offset_bytes, stored_bytes, sum: stored.sum })
            }
        }
    }

    fn checkpoint(&self) -> Task<'_, ()> {
        Box::pin(async {
            self.destage_all().await?;
            self.engine.destager.first_lost().map_or(Ok(()), Err)
        })
    }

    fn share_commits(&self, groups: usize) {
        self.engine.log.set_commit_groups(groups);
    }

    fn largest_batch(&self) -> usize {
        self.engine.log.group_max()
    }

    fn known(&self) -> Vec<PageNumber> {
        let mut pages = self.engine.context.home.known();
        pages.extend(self.engine.log.versions().pages());
        pages.extend(self.engine.log.unsent());
        pages.sort_unstable();
        pages.dedup();
        pages
    }

    fn stats(&self, stats: &mut Stats) {
        let log = &self.engine.log;
        stats.staged_pages = (log.versions().len() + log.unsent().len()) as u64;
    }

    fn stop(&self) {
        self.engine.reclaimer.urgency.stop();
    }

    fn close(&self) -> Task<'_, ()> {
        Box::pin(async {
            let Engine { log, reclaimer, destager, .. } = &*self.engine;
            if log.is_all_durable() && !reclaimer.has_room_for_directory().await? {
                destager.destage_everything().await?;
            }
            reclaimer.persist_close().await
        })
    }

    fn stopped(&self) -> Pin<Box<dyn Future<Output = ()> + '_>> {
        let Engine { context, destager, .. } = &*self.engine;
        Box::pin(async { context.changed.wait(|| destager.is_idle().then_some(())).await })
    }
}
