use std::ops::Range;

use serde::Deserialize;

use super::super::dice::Dice;

/// Faults of a device, and the seed of their randomness.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FaultPlan {
    /// Seed of every random choice: blocks hit, bits flipped, contents of garbage.
    pub seed: u64,
    /// Rules; none by default.
    pub rules: Vec<FaultRule>,
}

/// Kind of fault, with its time and range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FaultRule {
    /// Kind of fault.
    pub fault: Fault,
    /// Time or rate.
    pub when: When,
    /// Logical blocks that the rule applies to. Flushes have no blocks and ignore it.
    pub blocks: Range<u64>,
}

/// Kind of fault. Block faults are drawn for each block of an operation, the others for each
/// operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// Block fault: a read fails (`EIO`). Sticky: until the block is written again.
    FailedRead(Lasts),
    /// Block fault: a write fails (`EIO`); each of its blocks was written or not. Sticky: for good.
    FailedWrite(Lasts),
    /// A flush fails (`EIO`), and the writes that it covered stay volatile for good. Sticky: every
    /// later flush fails.
    FailedFlush(Lasts),
    /// Block fault: a write stores one flipped bit.
    DamagedWrite,
    /// Block fault: a read returns one flipped bit; the stored data is intact.
    DamagedRead,
    /// A successful write is stored whole at another address.
    MisdirectedWrite,
    /// Block fault: a successful write leaves the block unchanged.
    LostWrite,
    /// Block fault: a read returns the block before its last write.
    StaleRead,
    /// A write fails for lack of space (`ENOSPC`) and changes nothing.
    NoSpace,
    /// An operation takes longer.
    LatencySpike {
        /// Additional time.
        extra_ns: u64,
    },
}

/// Persistence of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Lasts {
    /// A retry may succeed.
    Once,
    /// A retry fails as well.
    Sticky,
}

/// Time or rate of a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// At the operation with this number, counted from 0 over the media's operations of every kind.
    /// Has no effect on an operation of another kind than the fault's. A block fault hits all of
    /// the rule's blocks.
    Operation(u64),
    /// With this probability, per million.
    PerMillion(u32),
}

impl FaultPlan {
    /// Plan without faults.
    pub fn none() -> Self {
        Self::default()
    }

    /// Plan with a seed and no faults.
    pub fn seeded(seed: u64) -> Self {
        Self { seed, rules: Vec::new() }
    }

    /// Plan for one of several devices, with a seed of its own. With a shared seed, faults would
    /// strike both legs of a mirror at once.
    #[must_use]
    pub fn for_device(&self, index: u64) -> Self {
        Self { seed: Dice::new(self.seed).of(index).roll(), rules: self.rules.clone() }
    }

    /// Adds a fault on any block.
    #[must_use]
    pub fn and(self, fault: Fault, when: When) -> Self {
        self.and_on(0..u64::MAX, fault, when)
    }

    /// Adds a fault on some blocks.
    #[must_use]
    pub fn and_on(mut self, blocks: Range<u64>, fault: Fault, when: When) -> Self {
        debug_assert!(blocks.start <= blocks.end, "a fault on {blocks:?} strikes nothing");
        self.rules.push(FaultRule { fault, when, blocks });
        self
    }
}
