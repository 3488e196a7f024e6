use std::ops::Range;

use serde::Deserialize;

use super::super::dice::Dice;

/// What shall go wrong on a device, and the seed of all chance in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FaultPlan {
    /// Everything that is left to chance depends on it: which blocks are hit, which bit flips, what garbage says.
    pub seed: u64,
    /// The faults; none by default.
    pub rules: Vec<FaultRule>,
}

/// One kind of fault, and when and where it strikes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FaultRule {
    /// What goes wrong.
    pub fault: Fault,
    /// When.
    pub when: When,
    /// The logical blocks it may hit. A flush has no blocks and isn't held back by this.
    pub blocks: Range<u64>,
}

/// What can go wrong. Those of blocks are drawn for each block of an operation, the others for each operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// Of blocks: a read fails (`EIO`). Sticky: until the block is written again.
    FailedRead(Lasts),
    /// Of blocks: a write fails (`EIO`); each of its blocks was taken or wasn't. Sticky: for good.
    FailedWrite(Lasts),
    /// A flush fails (`EIO`), and what it covered stays volatile for good. Sticky: every flush from then on.
    FailedFlush(Lasts),
    /// Of blocks: what a write stores has one bit flipped.
    DamagedWrite,
    /// Of blocks: what a read returns has one bit flipped; what is stored hasn't.
    DamagedRead,
    /// A write that succeeds is stored at another address, whole.
    MisdirectedWrite,
    /// Of blocks: a write that succeeds leaves the block as it was.
    LostWrite,
    /// Of blocks: a read returns what the block held before its last write.
    StaleRead,
    /// A write fails for want of space (`ENOSPC`), and changes nothing.
    NoSpace,
    /// Any operation takes longer.
    LatencySpike {
        /// By so much.
        extra_ns: u64,
    },
}

/// Whether a failure comes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Lasts {
    /// Trying again may help.
    Once,
    /// Trying again doesn't help.
    Sticky,
}

/// When a fault strikes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// At the operation with this number, counted from 0 over all that the media was asked, of whatever kind; at
    /// another kind than the fault's it does nothing. A fault of blocks hits all of the rule's.
    Operation(u64),
    /// In so many of a million cases.
    PerMillion(u32),
}

impl FaultPlan {
    /// Nothing goes wrong.
    pub fn none() -> Self {
        Self::default()
    }

    /// Nothing goes wrong yet.
    pub fn seeded(seed: u64) -> Self {
        Self { seed, rules: Vec::new() }
    }

    /// The same plan for one of several devices, by a seed of its own: on an array of which all devices had one seed,
    /// chance would strike both legs of a mirror at once.
    #[must_use]
    pub fn for_device(&self, index: u64) -> Self {
        Self { seed: Dice::new(self.seed).of(index).roll(), rules: self.rules.clone() }
    }

    /// The same, and this fault on any block.
    #[must_use]
    pub fn and(self, fault: Fault, when: When) -> Self {
        self.and_on(0..u64::MAX, fault, when)
    }

    /// The same, and this fault on some blocks.
    #[must_use]
    pub fn and_on(mut self, blocks: Range<u64>, fault: Fault, when: When) -> Self {
        debug_assert!(blocks.start <= blocks.end, "a fault on {blocks:?} strikes nothing");
        self.rules.push(FaultRule { fault, when, blocks });
        self
    }
}
