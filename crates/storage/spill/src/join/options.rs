use crate::{Budget, SpillCosts};

/// Which rows a join gives. Probe rows are the outer ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum JoinKind {
    /// Every pair of rows with the same key.
    Inner,
    /// The same, and every probe row that is in no pair.
    Left,
    /// Every probe row for which there is a build row, once.
    Semi,
    /// Every probe row for which there is none.
    Anti,
}

impl JoinKind {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Inner, Self::Left, Self::Semi, Self::Anti];

    /// Whether probe rows that match nothing are wanted.
    pub(super) fn wants_unmatched(self) -> bool {
        match self {
            Self::Left | Self::Anti => true,
            Self::Inner | Self::Semi => false,
        }
    }

    /// Whether each pair is wanted.
    pub(super) fn wants_pairs(self) -> bool {
        match self {
            Self::Inner | Self::Left => true,
            Self::Semi | Self::Anti => false,
        }
    }
}

/// How to join.
#[derive(Debug, Clone)]
pub struct JoinOptions {
    /// The memory for all of it; nothing else takes of it meanwhile.
    pub budget: Budget,
    /// What the device of the temporary space was measured to do.
    pub costs: SpillCosts,
    /// Which rows are wanted.
    pub kind: JoinKind,
    /// Bytes of the build side's rows, if that is known: clusters and fan-out are chosen for as much.
    pub expected_build_bytes: Option<u64>,
    /// What one request reads, in the place of what follows from the costs.
    pub cluster_bytes: Option<usize>,
    /// Partitions of a side at most, two at least, in the place of what follows from memory.
    pub fan_out_max: Option<usize>,
}

impl JoinOptions {
    /// Joins in `budget`, on a device with `costs`, whatever comes.
    pub fn new(budget: Budget, costs: SpillCosts, kind: JoinKind) -> Self {
        Self { budget, costs, kind, expected_build_bytes: None, cluster_bytes: None, fan_out_max: None }
    }
}
