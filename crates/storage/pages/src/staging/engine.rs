//! How a group gets from memory into the staging area: the one thing that all three owners take part in.

use std::rc::Rc;

use nandle_io::Durability;

use super::config::StagingConfig;
use super::context::Context;
use super::destage::Destager;
use super::log::WriteLog;
use super::reclaim::Reclaimer;
use super::recover::Recovered;
use super::space::Room;
use crate::signal::Turn;
use crate::{Batch, PageError};

/// The owners of what a staging area holds.
pub(super) struct Engine {
    pub(super) context: Rc<Context>,
    pub(super) log: Rc<WriteLog>,
    pub(super) reclaimer: Rc<Reclaimer>,
    pub(super) destager: Rc<Destager>,
    group_turn: Turn,
}

impl Engine {
    /// What recovery found is divided among them.
    pub(super) fn new(context: Rc<Context>, config: StagingConfig, recovered: Recovered) -> Rc<Self> {
        let StagingConfig { placement, order, keeps_memory, thresholds } = config;
        let keep_pages = keep_pages(&context, keeps_memory);
        let Recovered { table, blocks, durable, end, .. } = recovered;
        let log = WriteLog::new(&context, keep_pages, table, (durable, end));
        let reclaimer = Reclaimer::new(&context, &log, (placement, thresholds), blocks);
        let destager = Destager::new(&context, &log, &reclaimer, (order, thresholds));
        Rc::new(Self { context, log, reclaimer, destager, group_turn: Turn::default() })
    }

    /// Takes a batch in, if there is room for it and it doesn't make the next group full; else gives it back.
    pub(super) fn take_in(&self, batch: Batch) -> Result<(), Batch> {
        let most = self.context.largest_group().min(self.gather_pages());
        if self.log.gathered() + batch.len() >= most {
            return Err(batch);
        }
        self.log.gather(batch.into_changes());
        Ok(())
    }

    /// Takes a batch in, when there is room for it.
    pub(super) async fn accept(self: &Rc<Self>, batch: Batch) -> Result<(), PageError> {
        let most = self.context.largest_group();
        if !self.context.options.experiments.absorb {
            self.destage_older(&batch).await?;
        }
        while self.log.gathered() > 0 && self.log.gathered() + batch.len() > most {
            self.push().await?;
        }
        self.log.gather(batch.into_changes());
        let gathered = self.log.gathered();
        let is_full = gathered * self.context.label.page_length() >= self.context.options.gather_bytes;
        if is_full || gathered >= most {
            self.push().await?;
        }
        Ok(())
    }

    /// From so many pages on a group is written although nobody waits for it.
    fn gather_pages(&self) -> usize {
        self.context.options.gather_bytes / self.context.label.page_length()
    }

    /// Destages what a batch would replace.
    async fn destage_older(self: &Rc<Self>, batch: &Batch) -> Result<(), PageError> {
        let pages: Vec<_> = batch.changes().iter().map(|(page, _)| *page).collect();
        if pages.iter().any(|page| self.log.is_in_memory(*page)) {
            self.push().await?;
        }
        self.destager.these(&pages).await
    }

    /// Makes durable what was accepted.
    pub(super) async fn make_durable(self: &Rc<Self>) -> Result<(), PageError> {
        // Where one request can do it, it does.
        let target = self.push_as(Durability::Durable).await?;
        self.log.make_durable(target).await
    }

    /// Writes what is gathered as one group. Returns, when all of it is on its way, the sequence by which it and all
    /// before it are written. It goes on when its caller is dropped: a group must not end in the middle.
    pub(super) async fn push(self: &Rc<Self>) -> Result<u64, PageError> {
        self.push_as(Durability::Volatile).await
    }

    async fn push_as(self: &Rc<Self>, wanted: Durability) -> Result<u64, PageError> {
        let engine = Rc::clone(self);
        let pushing = async move {
            let pushed = engine.push_group(wanted).await;
            // A group that ends in the middle must not be followed by another.
            pushed.inspect_err(|error| engine.context.disk.latch(error))
        };
        self.context.disk.handle().spawn_named("page store: writing a group", pushing).await
    }

    async fn push_group(&self, wanted: Durability) -> Result<u64, PageError> {
        let _mine = self.group_turn.take().await;
        self.log.begin_group().await?;
        while self.log.wanted_pages().is_some() {
            let room = self.room().await?;
            self.log.wait_for_flight().await?;
            let extent = self.log.append(room, wanted)?;
            self.reclaimer.appended(&extent)?;
            self.destager.appended(&extent);
            self.destager.start();
        }
        Ok(self.log.end_group())
    }

    /// Waits for room for the next extent; makes some if there is none.
    async fn room(&self) -> Result<Room, PageError> {
        let mut all_is_home = false;
        loop {
            self.context.disk.check_writable()?;
            let wanted = self.log.wanted_pages().unwrap_or(0);
            if let Some(room) = self.reclaimer.find_room(wanted, all_is_home) {
                return Ok(room);
            }
            let _urgent = self.reclaimer.urgently();
            if self.destager.make_room().await? {
                continue;
            }
            if all_is_home {
                let what = "no room is left in the staging area although every page went home";
                return Err(PageError::Corrupt { what, offset_bytes: self.context.label.area_offset });
            }
            all_is_home = true;
        }
    }
}

/// Staged pages that may stay in memory. The rest of it is for clients and for what is on its way.
fn keep_pages(context: &Context, keeps_memory: bool) -> usize {
    let memory_bytes = context.options.memory_bytes;
    let keep_bytes =
        if keeps_memory { memory_bytes / 2 } else { context.options.keep_bytes.min(memory_bytes / 4) };
    keep_bytes / context.label.page_length()
}
