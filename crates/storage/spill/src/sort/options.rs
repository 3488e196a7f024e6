use std::sync::Arc;

use crate::{Budget, SpillCosts};

/// Options of a sort.
#[derive(Clone)]
pub struct SortOptions {
    /// Memory for the whole sort.
    pub budget: Budget,
    /// Measured performance of the device of the temporary space.
    pub costs: SpillCosts,
    /// Bytes of all rows, if known. Clusters are chosen for it.
    pub expected_bytes: Option<u64>,
    /// Number of rows to return, from the first one.
    pub limit: Option<u64>,
    /// Keeps rows with equal keys in the order in which they were pushed.
    pub stable: bool,
    /// Combines rows with equal keys into one.
    pub combine: Option<Arc<dyn Combine>>,
    /// Length of a read in bytes, overriding the choice by cost.
    pub cluster_bytes: Option<usize>,
    /// Maximum number of runs in one merge, overriding the limit by memory.
    pub fan_in_max: Option<usize>,
}

impl SortOptions {
    /// Options for a full sort of unknown size, without overrides.
    pub fn new(budget: Budget, costs: SpillCosts) -> Self {
        Self {
            budget,
            costs,
            expected_bytes: None,
            limit: None,
            stable: false,
            combine: None,
            cluster_bytes: None,
            fan_in_max: None,
        }
    }

    /// Returns true if rows are combined or limited while they are sorted.
    pub(crate) fn condenses(&self) -> bool {
        self.combine.is_some() || self.limit.is_some()
    }
}

/// Combines two rows with the same key: keeps the first (distinct), counts, sums.
pub trait Combine: Send + Sync {
    /// Merges `payload` into `into`. The result must not depend on how rows are grouped. Without
    /// [`SortOptions::stable`], it must not depend on their order either.
    fn combine(&self, into: &mut Vec<u8>, payload: &[u8]);
}
