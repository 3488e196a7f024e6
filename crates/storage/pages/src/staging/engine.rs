//! Path of a group from memory into the staging area, which involves all three owners.

use std::rc::Rc;

use nandle_io::Durability;

use super::config::StagingConfig;
use super::destage::Destager;
use super::format::{at_risk_max, largest_group, least_extent_pages};
use super::log::{StagedPages, StagingLog};
use super::reclaim::Reclaimer;
use super::recover::Recovered;
use super::space::Room;
use crate::signal::Turn;
use crate::write_log::{Chain, Context, Limits};
use crate::{Batch, PageError};

/// Owners of the staging area's state.
pub(super) struct Engine {
    pub(super) context: Rc<Context>,
    pub(super) log: Rc<StagingLog>,
    pub(super) reclaimer: Rc<Reclaimer>,
    pub(super) destager: Rc<Destager>,
    group_turn: Turn,
}

impl Engine {
    /// Distributes the recovered state among the owners.
    pub(super) fn new(context: Rc<Context>, config: StagingConfig, recovered: Recovered) -> Rc<Self> {
        let StagingConfig { placement, order, keeps_memory, thresholds } = config;
        let keep_pages = keep_pages(&context, keeps_memory);
        let Recovered { table, blocks, durable, end, .. } = recovered;
        let limits = Limits { group: largest_group(&context.label), at_risk: at_risk_max(&context.label) };
        let staged = StagedPages::new(table, keep_pages);
        let log = StagingLog::new(&context, limits, Chain::continued(durable, end), staged);
        let reclaimer = Reclaimer::new(&context, &log, (placement, thresholds), blocks);
        let destager = Destager::new(&context, &log, &reclaimer, (order, thresholds));
        Rc::new(Self { context, log, reclaimer, destager, group_turn: Turn::default() })
    }

    /// Accepts a batch if it fits and doesn't fill the next group; otherwise returns it.
    pub(super) fn take_in(&self, batch: Batch) -> Result<(), Batch> {
        // Without absorption the versions that the batch replaces are destaged first.
        if self.context.options.experiments.absorb { self.log.take_in(batch) } else { Err(batch) }
    }

    /// Accepts a batch as soon as it fits.
    pub(super) async fn accept(self: &Rc<Self>, batch: Batch) -> Result<(), PageError> {
        if !self.context.options.experiments.absorb {
            self.destage_older(&batch).await?;
        }
        self.log.accept(batch, async || self.push().await).await
    }

    /// Destages the versions that a batch would replace.
    async fn destage_older(self: &Rc<Self>, batch: &Batch) -> Result<(), PageError> {
        let pages: Vec<_> = batch.changes().iter().map(|(page, _)| *page).collect();
        if pages.iter().any(|page| self.log.is_in_memory(*page)) {
            self.push().await?;
        }
        self.destager.destage_these(&pages).await
    }

    /// Makes all accepted batches durable. Returns the durable sequence.
    pub(super) async fn make_durable(self: &Rc<Self>) -> Result<u64, PageError> {
        // Uses a single durable write where possible.
        self.log.commit(async || self.push_as(Durability::Durable).await).await
    }

    /// Writes the gathered batches as one group. Returns, once all writes are in flight, the
    /// sequence that covers them. Continues if its caller is dropped, as a group must not break
    /// off.
    pub(super) async fn push(self: &Rc<Self>) -> Result<u64, PageError> {
        self.push_as(Durability::Volatile).await
    }

    async fn push_as(self: &Rc<Self>, wanted: Durability) -> Result<u64, PageError> {
        let engine = Rc::clone(self);
        let pushing = async move {
            let pushed = engine.push_group(wanted).await;
            // No group may follow an interrupted one.
            pushed.inspect_err(|error| engine.context.latch(error))
        };
        self.context.disk.handle().spawn_named("page store: writing a group", pushing).await
    }

    async fn push_group(&self, wanted: Durability) -> Result<u64, PageError> {
        let _mine = self.group_turn.take().await;
        // A group that broke off has stopped the store.
        self.context.disk.check_writable()?;
        let changes = self.log.begin_group();
        self.log.tail.limit_what_is_at_risk(changes).await?;
        let least = least_extent_pages(&self.context.label, changes);
        while let Some(pages) = self.log.wanted_pages() {
            let room = self.room(pages, pages.min(least)).await?;
            self.log.tail.wait_for_flight().await?;
            let extent = self.log.append(room, wanted)?;
            debug_assert!(extent.pages.len() <= room.pages, "{} pages in {room:?}", extent.pages.len());
            self.reclaimer.appended(&extent)?;
            self.destager.appended(&extent);
            self.destager.start();
        }
        debug_assert_eq!(self.log.puts_ahead(1), None, "all of the group is on its way");
        self.log.tail.flush_ahead();
        let assigned = self.log.tail.assigned();
        Ok(assigned)
    }

    /// Waits for room for the next extent, of `wanted` pages or at least `least`. Makes room if
    /// there is none.
    async fn room(&self, wanted: usize, least: usize) -> Result<Room, PageError> {
        let mut all_is_home = false;
        loop {
            self.context.disk.check_writable()?;
            debug_assert_eq!(self.log.wanted_pages(), Some(wanted), "one group is written at a time");
            if let Some(room) = self.reclaimer.find_room(wanted, least, all_is_home) {
                return Ok(room);
            }
            let _urgent = self.reclaimer.urgency.begin();
            if self.destager.make_room().await? {
                continue;
            }
            if all_is_home {
                if let Some(lost) = self.destager.first_lost() {
                    return Err(lost);
                }
                let what = "no room is left in the staging area although every page went home";
                return Err(PageError::Corrupt { what, offset_bytes: self.context.label.area_offset });
            }
            all_is_home = true;
        }
    }
}

/// Number of staged pages that may stay in memory. The rest is for clients and requests in flight.
fn keep_pages(context: &Context, keeps_memory: bool) -> usize {
    let memory_bytes = context.options.memory_bytes;
    let keep_bytes =
        if keeps_memory { memory_bytes / 2 } else { context.options.keep_bytes.min(memory_bytes / 4) };
    debug_assert!(keep_bytes <= memory_bytes / 2, "{keep_bytes} of {memory_bytes} are kept");
    keep_bytes / context.label.page_length()
}
