//! # The fault model
//!
//! What a modelled device may do to what it stores. What isn't listed can't happen. The grain is the logical block.
//!
//! ## A power cut
//!
//! It can strike after any event of any device: after an operation was submitted, and after it completed. At that
//! moment a block is in one of two states.
//!
//! 1. **Durable** is what a block held at the last guarantee that covers it. It survives unharmed. Guarantees are: a
//!    *flush* that succeeded covers every write and discard that had completed before it was submitted; a *durable
//!    write* that succeeded covers itself. Where several covered writes meet in a block, the one that completed last
//!    counts, also where they were in flight together: a client that cares may not have overlapping writes in flight.
//! 2. **Volatile** is everything that was submitted and isn't covered, whether it completed or not. Of these each
//!    block survives as
//!    - *old*: its durable contents,
//!    - *new*: what any one of its volatile writes brought, not necessarily the last: the device may have moved an
//!      earlier one to the medium and lost the later one,
//!    - *torn*, only under [`Tearing::InsideBlocks`](super::Tearing): the beginning of one of its volatile writes
//!      and, from some byte on, old; or wholly garbage (a page program that was cut short). Devices promise to write
//!      a logical block whole (NVMe: AWUPF, base specification 2.0, Identify Controller), but not all keep it
//!      (Zheng, Tucek, Qin, Lillibridge: *Understanding the robustness of SSDs under power fault*, FAST 2013, who
//!      also saw the unserialised writes that come next).
//!
//!    Blocks choose by themselves, so that a write of several blocks may be torn at any block boundary and writes
//!    survive in any order, later ones without earlier ones; or in a pattern: all, none, in order up to some point,
//!    the latest alone, by operation, by region. Each device of an array chooses by itself, and so the legs of a
//!    mirror may differ.
//!
//! Nothing else changes: no block that no volatile write touches, and no durable block beside one that is torn.
//!
//! A device whose [write cache](super::WriteCache) is *protected* (power-loss protection, a battery) covers every
//! write as it completes; only what is in flight is volatile. A *lying* one acknowledges flushes and durable writes
//! while the last completed writes, as many as fit into its cache, are still volatile; a later flush covers those that
//! have left it.
//!
//! A **failed flush** leaves everything that it would have covered volatile for good: no later flush covers it, even
//! one that succeeds, until the blocks are written again. So do systems that drop the dirty mark of pages whose
//! write-back failed (Rebello et al.: *Can applications recover from fsync failures?*, USENIX ATC 2020). Reads go on
//! returning what was written.
//!
//! A **discard** is a volatile write of [`AfterDiscard`](super::AfterDiscard): garbage, or zeros, in the blocks that
//! had been written. Until a guarantee covers it, a power cut may bring the old contents back.
//!
//! ## While it runs
//!
//! A [`FaultPlan`] says what goes wrong, by rates and at given operations ([`Fault`] says what each means): reads,
//! writes and flushes that fail, once or from then on; a flipped bit in what a write stores or a read returns; a
//! write that goes to another address; a write that is lost although it succeeded; a read of what a block held one
//! write ago; no space left; spikes of latency. Further:
//!
//! - Blocks may be unreadable from the start ([`Media::with_unreadable`](super::Media::with_unreadable)), until they are written
//!   again.
//! - A failed write has written some of its blocks and not the others; those behave like any volatile write.
//! - A misdirected write harms the blocks where it lands, as a volatile write there, and is lost where it should have
//!   gone.
//! - A thin-provisioned device ([`Media::with_space`](super::Media::with_space)) refuses writes to new blocks when so
//!   many are in use; a discard gives blocks back only where they read as zeros afterwards.
//!
//! Faults strike while the device runs; a power cut adds none.
//!
//! ## What is left out
//!
//! A torn block reads as garbage and not as an error, as a disk's checks would have it. A durable block doesn't decay
//! while the power is off ([`Contents::damage`](super::Contents::damage) does it by hand), and damage doesn't spread
//! from block to block (shorn or shared pages that take durable neighbours with them). A device doesn't vanish as a
//! whole. A stale read returns one version back, never more. A read that is in flight with a write to the same block
//! returns what the block held when the read completed, never a mixture.
//!
//! ## Chance
//!
//! Every decision is a pure function of the seed, the number of the operation, the block and the number of the rule; a
//! choice of survivors, of the seed, the cut, the choice's number, the device and the block. Nothing depends on what
//! was decided before, save that sticky failures stick.

mod file;
mod plan;

use std::collections::BTreeSet;
use std::ops::Range;

pub use file::{FaultFile, FaultFileError};
pub use plan::{Fault, FaultPlan, FaultRule, Lasts, When};

use super::dice::Dice;

/// What becomes of one block of a write that succeeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    Stored,
    Damaged(Dice),
    Lost,
}

/// A plan, and the failures that stuck.
#[derive(Debug)]
pub(super) struct Faults {
    plan: FaultPlan,
    dice: Dice,
    unreadable: BTreeSet<u64>,
    unwritable: BTreeSet<u64>,
    unflushable: bool,
}

impl Faults {
    pub(super) fn new(plan: FaultPlan) -> Self {
        let dice = Dice::new(plan.seed);
        Self { plan, dice, unreadable: BTreeSet::new(), unwritable: BTreeSet::new(), unflushable: false }
    }

    /// Reads of these blocks fail until they are written again.
    pub(super) fn make_unreadable(&mut self, blocks: Range<u64>) {
        self.unreadable.extend(blocks);
    }

    /// Whether what blocks held before their last write is needed.
    pub(super) fn needs_history(&self) -> bool {
        self.plan.rules.iter().any(|rule| rule.fault == Fault::StaleRead)
    }

    /// The dice for an operation's contents.
    pub(super) fn dice(&self, operation: u64) -> Dice {
        self.dice.of(u64::MAX).of(operation)
    }

    pub(super) fn extra_latency_ns(&self, operation: u64, blocks: &Range<u64>) -> u64 {
        let hits = self.operation_hits(operation, blocks);
        hits.map(|(fault, _)| if let Fault::LatencySpike { extra_ns } = fault { extra_ns } else { 0 })
            .fold(0, u64::saturating_add)
    }

    pub(super) fn flush_fails(&mut self, operation: u64) -> bool {
        let mut fails = self.unflushable;
        for (fault, _) in self.operation_hits(operation, &(0..u64::MAX)) {
            if let Fault::FailedFlush(lasts) = fault {
                fails = true;
                self.unflushable |= lasts == Lasts::Sticky;
            }
        }
        fails
    }

    pub(super) fn read_fails(&mut self, operation: u64, blocks: Range<u64>) -> bool {
        let mut fails = self.unreadable.range(blocks.clone()).next().is_some();
        for (block, fault, _) in self.block_hits(operation, blocks) {
            if let Fault::FailedRead(lasts) = fault {
                fails = true;
                if lasts == Lasts::Sticky {
                    self.unreadable.insert(block);
                }
            }
        }
        fails
    }

    pub(super) fn write_fails(&mut self, operation: u64, blocks: Range<u64>) -> bool {
        let mut fails = self.unwritable.range(blocks.clone()).next().is_some();
        for (block, fault, _) in self.block_hits(operation, blocks) {
            if let Fault::FailedWrite(lasts) = fault {
                fails = true;
                if lasts == Lasts::Sticky {
                    self.unwritable.insert(block);
                }
            }
        }
        fails
    }

    /// A block was written: it can be read again.
    pub(super) fn written(&mut self, block: u64) {
        if !self.unreadable.is_empty() {
            self.unreadable.remove(&block);
        }
    }

    pub(super) fn no_space(&self, operation: u64, blocks: &Range<u64>) -> bool {
        self.operation_hits(operation, blocks).any(|(fault, _)| fault == Fault::NoSpace)
    }

    /// Where a write to `blocks` goes on a device of so many.
    pub(super) fn landing(&self, operation: u64, blocks: &Range<u64>, device_blocks: u64) -> u64 {
        let mut hits = self.operation_hits(operation, blocks);
        debug_assert!(
            blocks.end <= device_blocks,
            "a write to {blocks:?} of {device_blocks} is refused before"
        );
        let places = device_blocks.saturating_sub(blocks.end - blocks.start);
        let landing = match hits.find(|(fault, _)| *fault == Fault::MisdirectedWrite) {
            // Any of the other places: of `places` + 1 in all, the intended one is left out.
            Some((_, dice)) if places > 0 => {
                let landing = (blocks.start + 1 + dice.below(places)) % (places + 1);
                debug_assert_ne!(landing, blocks.start, "a misdirected write lies elsewhere");
                landing
            }
            _ => blocks.start,
        };
        debug_assert!(landing <= places, "a write to {blocks:?} ends behind the device at {landing}");
        landing
    }

    pub(super) fn write_fate(&self, operation: u64, block: u64) -> Fate {
        let mut fate = Fate::Stored;
        for (_, fault, dice) in self.block_hits(operation, block..block + 1) {
            match fault {
                Fault::LostWrite => return Fate::Lost,
                Fault::DamagedWrite => fate = Fate::Damaged(dice.of(1)),
                Fault::FailedRead(_)
                | Fault::FailedWrite(_)
                | Fault::FailedFlush(_)
                | Fault::DamagedRead
                | Fault::MisdirectedWrite
                | Fault::StaleRead
                | Fault::NoSpace
                | Fault::LatencySpike { .. } => {}
            }
        }
        fate
    }

    pub(super) fn reads_stale(&self, operation: u64, block: u64) -> bool {
        self.block_hits(operation, block..block + 1).any(|(_, fault, _)| fault == Fault::StaleRead)
    }

    pub(super) fn read_damage(&self, operation: u64, block: u64) -> Option<Dice> {
        let mut hits = self.block_hits(operation, block..block + 1);
        hits.find(|(_, fault, _)| *fault == Fault::DamagedRead).map(|(_, _, dice)| dice.of(1))
    }

    /// The faults that strike an operation as a whole. Owned, so that what they change can be changed.
    fn operation_hits(
        &self,
        operation: u64,
        blocks: &Range<u64>,
    ) -> impl Iterator<Item = (Fault, Dice)> + use<> {
        let mut hits = Vec::new();
        for (rule, dice) in self.rules(operation) {
            let touched = rule.blocks.start < blocks.end && blocks.start < rule.blocks.end;
            let touched = touched || matches!(rule.fault, Fault::FailedFlush(_));
            if touched && rule.when.strikes(operation, dice) {
                hits.push((rule.fault, dice));
            }
        }
        hits.into_iter()
    }

    /// The faults that strike single blocks.
    fn block_hits(
        &self,
        operation: u64,
        blocks: Range<u64>,
    ) -> impl Iterator<Item = (u64, Fault, Dice)> + use<> {
        debug_assert!(blocks.start <= blocks.end, "blocks {blocks:?}");
        let mut hits = Vec::new();
        for (rule, dice) in self.rules(operation) {
            for block in blocks.start.max(rule.blocks.start)..blocks.end.min(rule.blocks.end) {
                let dice = dice.of(block);
                if rule.when.strikes(operation, dice) {
                    hits.push((block, rule.fault, dice));
                }
            }
        }
        hits.into_iter()
    }

    fn rules(&self, operation: u64) -> impl Iterator<Item = (&FaultRule, Dice)> {
        let dice = self.dice.of(operation);
        (0..).zip(&self.plan.rules).map(move |(number, rule)| (rule, dice.of(number)))
    }
}

impl When {
    fn strikes(self, operation: u64, dice: Dice) -> bool {
        match self {
            Self::Operation(number) => number == operation,
            Self::PerMillion(rate) => dice.per_million(rate),
        }
    }
}
