use std::sync::Arc;

use crate::{Budget, SpillCosts};

/// How to sort.
#[derive(Clone)]
pub struct SortOptions {
    /// The memory for all of it.
    pub budget: Budget,
    /// What the device of the temporary space was measured to do.
    pub costs: SpillCosts,
    /// Bytes of all rows, if that is known: clusters are chosen for as much.
    pub expected_bytes: Option<u64>,
    /// Only so many rows, the first ones, are wanted.
    pub limit: Option<u64>,
    /// Rows with equal keys come in the order in which they were pushed.
    pub stable: bool,
    /// Rows with equal keys become one.
    pub combine: Option<Arc<dyn Combine>>,
    /// What one request reads, in the place of what follows from the costs.
    pub cluster_bytes: Option<usize>,
    /// Runs to merge at once at most, in the place of what follows from memory.
    pub fan_in_max: Option<usize>,
}

impl SortOptions {
    /// Sorts in `budget`, on a device with `costs`, whatever comes, and all of it.
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

    /// Whether rows become fewer while they are sorted.
    pub(crate) fn condenses(&self) -> bool {
        self.combine.is_some() || self.limit.is_some()
    }
}

/// Makes one row of two with the same key: the first of them (distinct), a count, a sum.
pub trait Combine: Send + Sync {
    /// Adds what `payload` says to `into`. The result must not depend on how rows are grouped before they are combined, and without
    /// [`SortOptions::stable`] not on their order either.
    fn combine(&self, into: &mut Vec<u8>, payload: &[u8]);
}
