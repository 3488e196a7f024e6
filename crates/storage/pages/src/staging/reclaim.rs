//! Reclaimer: tracks the contents of the staging area's blocks, and frees dead ones.

mod close;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use super::header::Header;
use super::ledger::{Bound, Ledger};
use super::log::{Appended, StagingLog};
use super::recover::Blocks;
use super::space::{Placement, Room, Slot, Space, Told};
use super::urgency::Urgency;
use crate::defects::Defect;
use crate::extents::{Counts, Rotation, write_copy};
use crate::home_sums::HomeSums;
use crate::signal::Turn;
use crate::write_log::Context;
use crate::{PageError, PageNumber};

/// See the [module](self).
pub(super) struct Reclaimer {
    context: Rc<Context>,
    log: Rc<StagingLog>,
    placement: Placement,
    /// Slots are reclaimed when 1/`reclaims_at` of the area is reclaimable.
    reclaims_at: u64,
    /// Room is short when fewer blocks are free.
    short_blocks: u64,
    turn: Turn,
    pub(super) urgency: Urgency,
    sums: Option<HomeSums>,
    state: RefCell<ReclaimState>,
}

struct ReclaimState {
    space: Space,
    /// Headers by position, for the directory of a close.
    headers: BTreeMap<u64, Header>,
    /// Destaged versions that may not be flushed at home.
    destaged: Vec<Destaged>,
    /// Slots with superseded versions, and the sequences of the newer ones.
    superseded: Vec<(Slot, u64)>,
    /// Discarded pages, with sequences. Their home contents are unknown.
    forgotten: Vec<(PageNumber, u64)>,
    /// Sequence up to which the newest ledger lists the live extents. Recovery follows the chain
    /// from there.
    told: u64,
    /// True if that ledger is known to be durable, not only cached by the drive.
    is_told_durably: bool,
    /// Slots freed by the current reclamation once it ends.
    being_reclaimed: usize,
    reclamations: u64,
    epoch: u64,
    rotation: Rotation,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Destaged {
    pub(super) slot: Slot,
    pub(super) page: PageNumber,
    pub(super) sequence: u64,
    pub(super) sum: u32,
}

impl ReclaimState {
    fn release(&mut self, dead: &[Slot], empty: &[u64]) {
        self.space.release(dead, empty);
        for position in empty {
            self.headers.remove(position);
        }
    }

    /// Takes the pages discarded up to a sequence.
    fn take_forgotten(&mut self, up_to: u64) -> Vec<(PageNumber, u64)> {
        self.forgotten.extract_if(.., |(_, sequence)| *sequence <= up_to).collect()
    }
}

/// Blocks that a ledger frees once it is durable.
struct Freed {
    dead: Vec<Slot>,
    /// Extents without live pages.
    empty: Vec<u64>,
}

impl Reclaimer {
    /// Room is short when half of the room at the start of destaging is used up.
    pub(super) fn new(
        context: &Rc<Context>,
        log: &Rc<StagingLog>,
        (placement, thresholds): (Placement, super::config::Thresholds),
        found: Blocks,
    ) -> Rc<Self> {
        let Blocks { sums, forgotten, ledger_durable, space, headers, superseded, epoch, rotation } = found;
        debug_assert!(thresholds.starts_below > 0 && thresholds.reclaims_at > 0, "{thresholds:?}");
        let short_blocks = space.blocks() / (2 * thresholds.starts_below);
        let state = ReclaimState {
            space,
            headers,
            destaged: Vec::new(),
            superseded,
            forgotten,
            told: ledger_durable,
            is_told_durably: false,
            being_reclaimed: 0,
            reclamations: 0,
            epoch,
            rotation,
        };
        Rc::new(Self {
            context: Rc::clone(context),
            log: Rc::clone(log),
            placement,
            reclaims_at: thresholds.reclaims_at,
            short_blocks,
            turn: Turn::default(),
            urgency: Urgency::new(context),
            sums,
            state: RefCell::new(state),
        })
    }

    pub(super) fn blocks(&self) -> u64 {
        self.state.borrow().space.blocks()
    }

    /// Finds room for an extent of `wanted` pages, or of fewer, at least `least`, if the placement
    /// permits. Once everything possible is destaged any room will do, as unreadable pages block
    /// the way.
    pub(super) fn find_room(&self, wanted: usize, least: usize, all_is_home: bool) -> Option<Room> {
        let least = match self.placement {
            _ if all_is_home => wanted.min(1),
            Placement::Slots => least,
            Placement::Ring => wanted,
        };
        let space = &mut self.state.borrow_mut().space;
        let room = space.find(wanted, least);
        if all_is_home { room.or_else(|| space.find_behind_lost(wanted, least)) } else { room }
    }

    /// Longest run of blocks available without waiting.
    pub(super) fn longest_room_blocks(&self) -> u64 {
        self.state.borrow_mut().space.longest_room_blocks()
    }

    /// Blocks free now or after reclaiming the known dead slots. In a ring they may lie behind a
    /// live slot.
    pub(super) fn coming_room_blocks(&self) -> u64 {
        let state = self.state.borrow();
        let coming = match self.placement {
            Placement::Slots => state.being_reclaimed + state.destaged.len() + state.superseded.len(),
            Placement::Ring => 0,
        };
        state.space.room_blocks() + coming as u64 * self.context.label.page_blocks()
    }

    /// Allocates the room of an extent.
    pub(super) fn appended(&self, extent: &Appended) -> Result<(), PageError> {
        let state = &mut *self.state.borrow_mut();
        debug_assert!(extent.sequence > state.told, "a ledger tells of no extent before it is durable");
        state.space.occupy(extent.position, extent.pages.len(), (extent.sequence, extent.header.seal));
        state.headers.insert(extent.position, extent.header.clone());
        state.forgotten.extend(extent.discarded.iter().map(|page| (*page, extent.sequence)));
        if Defect::LiveSlotReused.is_seeded() {
            state.space.kill(&extent.superseded)?;
            state.release(&extent.superseded, &[]);
        } else {
            let superseded = extent.superseded.iter().map(|slot| (*slot, extent.sequence));
            state.superseded.extend(superseded);
        }
        Ok(())
    }

    pub(super) fn destaged(&self, version: Destaged) {
        debug_assert!(version.sequence <= self.log.tail.assigned_groups(), "{version:?} is of a whole group");
        self.state.borrow_mut().destaged.push(version);
    }

    /// Returns true if enough slots are dead.
    pub(super) fn is_due(&self) -> bool {
        // Versions superseded by an incomplete group are still live.
        let written = self.log.tail.written_groups();
        let state = self.state.borrow();
        debug_assert!(state.superseded.is_sorted_by_key(|(_, by)| *by), "slots are superseded in order");
        let superseded = state.superseded.partition_point(|(_, by)| *by <= written);
        let pages = (state.destaged.len() + superseded) as u64;
        pages * self.context.label.page_blocks() >= (state.space.blocks() / self.reclaims_at).max(1)
    }

    /// Flushes, writes a ledger that declares slots dead whose pages are home or superseded,
    /// flushes, and frees them. Returns true if any were freed, here or by a concurrent
    /// reclamation. Shares the flushes of commits, unless one is [urgent](Self::flush_is_urgent).
    pub(super) async fn reclaim(&self) -> Result<bool, PageError> {
        let before = self.state.borrow().reclamations;
        let _mine = self.turn.take().await;
        let others = self.state.borrow().reclamations != before;
        let reclaimed = self.reclaim_slots().await.map(|any| any || others);
        self.state.borrow_mut().being_reclaimed = 0;
        self.context.changed.notify();
        reclaimed.inspect_err(|error| self.context.disk.latch(error))
    }

    async fn reclaim_slots(&self) -> Result<bool, PageError> {
        let (written, groups) = (self.log.tail.written(), self.log.tail.written_groups());
        let (destaged, has_more) = {
            let state = &mut *self.state.borrow_mut();
            let destaged = std::mem::take(&mut state.destaged);
            state.being_reclaimed = destaged.len();
            (destaged, !state.superseded.is_empty() || state.space.has_empty())
        };
        if destaged.is_empty() && !has_more {
            return Ok(false);
        }
        let mut has_sums = false;
        if !Defect::SumsUnflushed.is_seeded() {
            has_sums = self.write_sums(&destaged, groups).await?;
        }
        if !Defect::UnflushedHomes.is_seeded() {
            self.context.disk.flush_when(|| self.flush_is_urgent()).await?;
        }
        if Defect::SumsUnflushed.is_seeded() {
            self.write_sums(&destaged, groups).await?;
        }
        // Extents that became durable later are left to the next ledger, as their discards aren't
        // among the checksums yet.
        let durable = self.log.tail.flushed(written).min(groups);
        let dead = destaged.iter().map(|version| version.slot).collect();
        let (freed, ledger) = self.draw_up(dead, durable)?;
        self.state.borrow_mut().being_reclaimed = freed.dead.len();
        if freed.dead.is_empty() && freed.empty.is_empty() && !has_sums {
            return Ok(false);
        }
        self.write_ledger(&ledger).await?;
        if !Defect::LedgerUnflushed.is_seeded() {
            self.context.disk.flush_when(|| self.flush_is_urgent()).await?;
        }
        let state = &mut *self.state.borrow_mut();
        // The opening's ledger is durable, so this one counts at once.
        state.rotation.flushed();
        state.release(&freed.dead, &freed.empty);
        (state.told, state.is_told_durably) = (durable, true);
        state.reclamations += 1;
        debug_assert!(state.epoch > 0, "a store reclaims when it is open");
        Ok(true)
    }

    /// Draws up a ledger of everything durable up to `durable`.
    fn draw_up(&self, mut dead: Vec<Slot>, durable: u64) -> Result<(Freed, Ledger), PageError> {
        let state = &mut *self.state.borrow_mut();
        debug_assert!(
            state.told <= durable,
            "a ledger tells of more than {durable}, the one before it of {}",
            state.told
        );
        debug_assert!(
            durable <= self.log.tail.durable(),
            "a ledger tells of what is durable, not of {durable}"
        );
        state.superseded.retain(|(slot, by)| {
            let is_dead = *by <= durable || Defect::DeadTooEarly.is_seeded();
            if is_dead {
                dead.push(*slot);
            }
            !is_dead
        });
        // Sorted, so that each extent is looked up once.
        dead.sort_unstable_by_key(|slot| (slot.extent, slot.index));
        debug_assert!(
            dead.is_sorted_by(|one, next| (one.extent, one.index) < (next.extent, next.index)),
            "a slot is dead because its page is home or superseded, not both"
        );
        state.space.kill(&dead)?;
        let Told { headers, slots, headers_seal, empty } = state.space.tell(durable);
        let sums_round = self.sums.as_ref().map_or(0, HomeSums::round);
        let is_bound = self.context.label.has_close_marks();
        let bound = is_bound.then_some(Bound { sums_round, headers_seal });
        Ok((Freed { dead, empty }, Ledger { epoch: state.epoch, durable, headers, slots, bound }))
    }

    /// Writes the checksums of destaged pages, and marks those of pages discarded up to a sequence
    /// as unknown. Doesn't flush. Returns true if there were any.
    async fn write_sums(&self, destaged: &[Destaged], up_to: u64) -> Result<bool, PageError> {
        let Some(sums) = &self.sums else { return Ok(false) };
        let forgotten = self.state.borrow_mut().take_forgotten(up_to);
        let forgotten = forgotten.into_iter().map(|(page, sequence)| (sequence, (page, 0)));
        let destaged = destaged.iter().map(|version| (version.sequence, (version.page, version.sum)));
        let mut changes: Vec<_> = forgotten.chain(destaged).collect();
        if changes.is_empty() {
            return Ok(false);
        }
        // The newest change of a page applies, whether a discard or a destaged version.
        changes.sort_by_key(|(sequence, _)| *sequence);
        let entries: Vec<_> = changes.into_iter().map(|(_, entry)| entry).collect();
        sums.write(&self.context.disk, &entries).await.map(|()| true)
    }

    async fn write_ledger(&self, ledger: &Ledger) -> Result<(), PageError> {
        let (stamp, copy) = {
            let rotation = &mut self.state.borrow_mut().rotation;
            (rotation.advance(), rotation.newest_copy())
        };
        let copy = if Defect::LedgerInPlace.is_seeded() { 0 } else { copy };
        let Context { disk, label, arena, .. } = &*self.context;
        let encode = |contents: &mut [u8]| ledger.encode(label.id, stamp, contents);
        write_copy(disk, label, arena, copy, encode).await
    }

    /// Makes the dead slots durable before the first reclamation of this opening.
    pub(super) async fn persist_dead_slots(&self) -> Result<(), PageError> {
        self.persist_sums().await?;
        self.persist_ledger(self.log.tail.durable()).await.map(|_| ())
    }

    /// Marks the checksums of discarded pages as unknown, durably. Rounds of checksums require a
    /// durable ledger first, and the ledger found may be volatile.
    async fn persist_sums(&self) -> Result<(), PageError> {
        let Some(sums) = &self.sums else { return Ok(()) };
        let (is_needed, told, is_told_durably) = {
            let state = self.state.borrow();
            (!state.forgotten.is_empty() || sums.have_gaps(), state.told, state.is_told_durably)
        };
        if is_needed && !is_told_durably {
            self.persist_ledger(told).await?;
        }
        if sums.have_gaps() {
            sums.write_table(&self.context.disk).await?;
            self.context.disk.flush().await?;
            self.persist_ledger(told).await?;
        }
        if self.write_sums(&[], self.log.tail.durable()).await? {
            self.context.disk.flush().await?;
        }
        Ok(())
    }

    /// Writes a ledger of the extents up to a sequence. Returns it.
    async fn persist_ledger(&self, durable: u64) -> Result<Ledger, PageError> {
        let (freed, ledger) = self.draw_up(Vec::new(), durable)?;
        loop {
            self.write_ledger(&ledger).await?;
            if !Defect::LedgerUnflushed.is_seeded() {
                self.context.disk.flush().await?;
            }
            let state = &mut *self.state.borrow_mut();
            if state.rotation.flushed() == Counts::Already {
                state.release(&freed.dead, &freed.empty);
                (state.told, state.is_told_durably) = (durable, true);
                return Ok(ledger);
            }
        }
    }

    /// Begins this opening's epoch with a durable ledger. Everything present must be durable;
    /// `renewed` lists the extents that were rewritten. Returns the epoch.
    pub(super) async fn begin_epoch(&self, renewed: &[Header]) -> Result<u64, PageError> {
        let _urgent = self.urgency.begin();
        let _mine = self.turn.take().await;
        if !renewed.is_empty() {
            // Inside this task's turn: a reclamation in between would record the new extents in the
            // old epoch, where remains of a broken chain could seem to continue them.
            let sequence = self.log.tail.continue_behind_renewal();
            self.adopt_renewed_extents(renewed, sequence);
        }
        debug_assert!(self.log.is_all_durable(), "an epoch begins when all before it is durable");
        // In a ledger of the new epoch only the extents that it names count.
        self.persist_sums().await?;
        let epoch = {
            let state = &mut *self.state.borrow_mut();
            state.epoch += 1;
            state.epoch
        };
        self.persist_ledger(self.log.tail.durable()).await?;
        Ok(epoch)
    }

    /// Replaces the extents of the old tail by those of a [renewal](super::renew) that ends with
    /// this sequence. They are durable, and count from the next ledger on. That ledger must have
    /// the new epoch, as they don't continue the chain of the old one.
    fn adopt_renewed_extents(&self, tail: &[Header], sequence: u64) {
        let state = &mut *self.state.borrow_mut();
        debug_assert!(
            tail.iter().all(|old| old.sequence < sequence),
            "what is renewed lies before {sequence}"
        );
        for header in tail {
            let slots = (0..header.pages.len()).map(|index| Slot { extent: header.position, index });
            state.superseded.extend(slots.map(|slot| (slot, sequence)));
        }
    }

    /// Returns true if a flush can't wait for commits, because a call waits for slots or soon will.
    pub(super) fn flush_is_urgent(&self) -> bool {
        let state = self.state.borrow();
        self.urgency.is_urgent() || state.space.room_blocks() < self.short_blocks
    }
}
