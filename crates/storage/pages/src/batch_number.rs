use std::fmt;

/// Number of a durable batch.
///
/// Under a policy with [atomic batches](crate::Promises::atomic_batch) numbers increase in the
/// order in which batches take effect, and never decrease, also across openings and power cuts. An
/// engine that records the number of a commit can therefore determine a store's contents: all
/// batches up to [`last_durable_batch`](crate::Store::last_durable_batch) are present. Batches that
/// became durable together may share a number. Numbers have gaps, as a store also counts its own
/// writes.
///
/// Under `direct` and `auto`, whose batches aren't atomic, every number is
/// [`NONE`](BatchNumber::NONE).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct BatchNumber(pub u64);

impl BatchNumber {
    /// No batch: nothing was committed yet, or the policy doesn't number batches.
    pub const NONE: Self = Self(0);
}

impl fmt::Display for BatchNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "batch {}", self.0)
    }
}
