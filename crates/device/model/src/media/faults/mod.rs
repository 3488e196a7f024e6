//! # The fault model
//!
//! The effects that a modelled device may have on its contents. Nothing else can happen. The
//! granularity is the logical block.
//!
//! ## Power cuts
//!
//! A power cut can strike after any event of any device: after the submission of an operation, and
//! after its completion. At that moment a block is in one of two states.
//!
//! 1. **Durable** is the block's contents at the last guarantee that covers it. They survive
//!    unharmed. Guarantees are: a successful *flush* covers every write and discard that had
//!    completed before its submission; a successful *durable write* covers itself. Where several
//!    covered writes meet in a block, the last one to complete counts, even if they were in flight
//!    together. A client that needs an order must not have overlapping writes in flight.
//! 2. **Volatile** is everything submitted and not covered, completed or not. Each such block
//!    survives as
//!    - *old*: its durable contents,
//!    - *new*: the contents of any of its volatile writes, not necessarily the last: the device may
//!      have moved an earlier one to the medium and lost the later one,
//!    - *torn*, only under [`Tearing::InsideBlocks`](super::Tearing): the beginning of one of its
//!      volatile writes and, from some byte on, old; or wholly garbage (an interrupted page
//!      program). Devices promise to write a logical block whole (NVMe: AWUPF, base specification
//!      2.0, Identify Controller), but not all do (Zheng, Tucek, Qin, Lillibridge: *Understanding
//!      the robustness of SSDs under power fault*, FAST 2013, who also saw the unserialised writes
//!      described next).
//!
//!    Blocks survive independently, so a write of several blocks may be torn at any block boundary,
//!    and later writes may survive without earlier ones. Or they survive in a pattern: all, none,
//!    in order up to some point, only the latest, by operation, by region. The devices of an array
//!    are independent, so the legs of a mirror may differ.
//!
//! Nothing else changes: neither blocks without volatile writes, nor durable neighbours of torn
//! blocks.
//!
//! With a *protected* [write cache](super::WriteCache) (power-loss protection, a battery), a write
//! is covered when it completes, and only operations in flight are volatile. A *lying* cache
//! acknowledges flushes and durable writes while the last completed writes that fit into it are
//! still volatile. A later flush covers the writes that have left it.
//!
//! A **failed flush** leaves everything that it would have covered volatile for good: no later
//! flush covers it, even a successful one, until the blocks are written again. Systems that clear
//! the dirty mark of pages after a failed write-back behave like this (Rebello et al.: *Can
//! applications recover from fsync failures?*, USENIX ATC 2020). Reads still return the written
//! data.
//!
//! A **discard** is a volatile write of [`AfterDiscard`](super::AfterDiscard) (garbage or zeros) to
//! the blocks that had been written. Until a guarantee covers it, a power cut may restore the old
//! contents.
//!
//! ## Faults at run time
//!
//! A [`FaultPlan`] injects faults at rates and at given operations; [`Fault`] defines each kind.
//! Reads, writes and flushes may fail, once or permanently. A write may store, or a read return, a
//! flipped bit. A write may go to another address, or be lost although it succeeded. A read may
//! return the contents before the last write. Space may run out, and latency may spike. Further:
//!
//! - Blocks may be unreadable from the start
//!   ([`Media::with_unreadable`](super::Media::with_unreadable)), until they are written again.
//! - A failed write has written some of its blocks; those behave like any volatile write.
//! - A misdirected write is a volatile write to the blocks at its wrong address, and is lost at its
//!   own.
//! - A thin-provisioned device ([`Media::with_space`](super::Media::with_space)) refuses writes to
//!   new blocks once its space is used up. A discard frees blocks only if they read as zeros
//!   afterwards.
//!
//! Faults strike while the device runs; a power cut adds none.
//!
//! ## Not modelled
//!
//! A torn block reads as garbage, not as an error, although a disk's checksums would detect it. A
//! durable block doesn't decay while the power is off
//! ([`Contents::damage`](super::Contents::damage) does that by hand), and damage doesn't spread to
//! other blocks (shorn or shared pages that damage durable neighbours). A device doesn't vanish as
//! a whole. A stale read is one version old, never more. A read concurrent with a write to the same
//! block returns the contents at the read's completion, never a mixture.
//!
//! ## Randomness
//!
//! Every decision is a pure function of the seed and the numbers of the operation, block and rule.
//! A choice of survivors is a function of the seed, the cut, the choice's number, the device and
//! the block. Nothing depends on earlier decisions, except that sticky failures persist.

mod file;
mod plan;

use std::collections::BTreeSet;
use std::ops::Range;

pub use file::{FaultFile, FaultFileError};
pub use plan::{Fault, FaultPlan, FaultRule, Lasts, When};

use super::dice::Dice;

/// Effect of a successful write on one block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    Stored,
    Damaged(Dice),
    Lost,
}

/// A plan, and the sticky failures so far.
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

    /// Makes reads of these blocks fail until they are written again.
    pub(super) fn make_unreadable(&mut self, blocks: Range<u64>) {
        self.unreadable.extend(blocks);
    }

    /// Returns true if a rule needs the contents before the last write.
    pub(super) fn needs_history(&self) -> bool {
        self.plan.rules.iter().any(|rule| rule.fault == Fault::StaleRead)
    }

    /// Dice for the contents of an operation.
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

    /// Makes a written block readable again.
    pub(super) fn written(&mut self, block: u64) {
        if !self.unreadable.is_empty() {
            self.unreadable.remove(&block);
        }
    }

    pub(super) fn no_space(&self, operation: u64, blocks: &Range<u64>) -> bool {
        self.operation_hits(operation, blocks).any(|(fault, _)| fault == Fault::NoSpace)
    }

    /// First block that a write to `blocks` reaches on a device of `device_blocks`.
    pub(super) fn landing(&self, operation: u64, blocks: &Range<u64>, device_blocks: u64) -> u64 {
        let mut hits = self.operation_hits(operation, blocks);
        debug_assert!(
            blocks.end <= device_blocks,
            "a write to {blocks:?} of {device_blocks} is refused before"
        );
        let places = device_blocks.saturating_sub(blocks.end - blocks.start);
        let landing = match hits.find(|(fault, _)| *fault == Fault::MisdirectedWrite) {
            // One of the `places` other positions: of `places` + 1 in all, the intended one is left
            // out.
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

    /// Faults that strike an operation as a whole. Owned, so that the caller can change `self`.
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

    /// Faults that strike single blocks.
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
