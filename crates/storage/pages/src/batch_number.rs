use std::fmt;

/// The number of a batch that is durable.
///
/// Under a policy with [atomic batches](crate::Promises::atomic_batch) numbers grow in the order in which batches take effect, and
/// never go back: not when the store is opened again, and not after a power cut. So an engine that keeps the number of a commit can
/// tell later what a store holds: all batches up to [`last_durable_batch`](crate::Store::last_durable_batch) are there.
/// Batches that became durable together may have the same number. Numbers have gaps: a store counts what it writes for itself, too.
///
/// Under `direct` and `auto`, which keep batches in part, every number is [`NONE`](BatchNumber::NONE).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct BatchNumber(pub u64);

impl BatchNumber {
    /// The number of no batch: nothing was committed yet, or the policy doesn't number batches.
    pub const NONE: Self = Self(0);
}

impl fmt::Display for BatchNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "batch {}", self.0)
    }
}
