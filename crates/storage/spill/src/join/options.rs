use crate::{Budget, SpillCosts};

/// Rows that a join returns. Probe rows are the outer side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum JoinKind {
    /// Every pair of rows with the same key.
    Inner,
    /// Every pair, and every probe row without a match.
    Left,
    /// Every probe row with a match, once.
    Semi,
    /// Every probe row without a match.
    Anti,
}

impl JoinKind {
    /// Every kind of join.
    pub const ALL: [Self; 4] = [Self::Inner, Self::Left, Self::Semi, Self::Anti];

    /// Returns true if probe rows without a match are returned.
    pub(super) fn returns_unmatched(self) -> bool {
        match self {
            Self::Left | Self::Anti => true,
            Self::Inner | Self::Semi => false,
        }
    }

    /// Returns true if matching pairs are returned.
    pub(super) fn returns_pairs(self) -> bool {
        match self {
            Self::Inner | Self::Left => true,
            Self::Semi | Self::Anti => false,
        }
    }
}

/// Options of a join.
#[derive(Debug, Clone)]
pub struct JoinOptions {
    /// Memory for the whole join; nothing else may use it meanwhile.
    pub budget: Budget,
    /// Measured performance of the device of the temporary space.
    pub costs: SpillCosts,
    /// Rows to return.
    pub kind: JoinKind,
    /// Bytes of the build side's rows, if known. Clusters and fan-out are chosen for it.
    pub expected_build_bytes: Option<u64>,
    /// Length of a read in bytes, overriding the choice by cost.
    pub cluster_bytes: Option<usize>,
    /// Maximum number of partitions of a side, at least two, overriding the limit by memory.
    pub fan_out_max: Option<usize>,
}

impl JoinOptions {
    /// Options with an unknown build size and no overrides.
    pub fn new(budget: Budget, costs: SpillCosts, kind: JoinKind) -> Self {
        Self { budget, costs, kind, expected_build_bytes: None, cluster_bytes: None, fan_out_max: None }
    }
}
