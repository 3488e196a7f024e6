use std::ops::Range;
use std::sync::Arc;

use nandle_io::Cause;

use super::page::Page;

/// An operation that began on a [`Media`](super::Media). Consumed by its completion; if dropped,
/// the operation stays in flight for ever.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "the operation stays in flight until it is completed"]
pub struct OperationId(pub(super) u64);

impl OperationId {
    /// Number of the operation: the count of those that began before it. Used by
    /// [`When::Operation`](super::When).
    pub fn number(&self) -> u64 {
        self.0
    }
}

/// Outcome of an operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// Success or failure, as the device reports it.
    pub result: Result<(), Cause>,
    /// Additional delay of the completion, after the time given by the timing.
    pub extra_latency_ns: u64,
}

/// Effect of an operation on one block: its number and its new contents (`None`: zeros).
pub(super) type Effect = (u64, Option<Page>);

/// Operation in flight. Its outcome was decided when it began.
#[derive(Debug)]
pub(super) struct Pending {
    pub(super) outcome: Outcome,
    pub(super) action: Action,
}

#[derive(Debug)]
pub(super) enum Action {
    Read,
    Write(PendingWrite),
    Flush { through: u64 },
}

/// A write or discard in flight.
#[derive(Debug)]
pub(super) struct PendingWrite {
    pub(super) effects: Arc<[Effect]>,
    /// Number in the recording.
    pub(super) recorded: Option<u32>,
    /// True if the write is durable when it completes.
    pub(super) durable: bool,
    /// Blocks of the device's space that it will take.
    pub(super) new_blocks: u64,
}

/// Blocks that a byte range touches.
pub(super) fn blocks_of(offset_bytes: u64, length_bytes: u64, block_bytes: u64) -> Range<u64> {
    let blocks = offset_bytes / block_bytes..offset_bytes.saturating_add(length_bytes).div_ceil(block_bytes);
    debug_assert!(
        blocks.start.saturating_mul(block_bytes) <= offset_bytes && blocks.start <= blocks.end,
        "{length_bytes} bytes from {offset_bytes} on lie in {blocks:?}"
    );
    blocks
}
