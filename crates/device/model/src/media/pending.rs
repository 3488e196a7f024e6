use std::ops::Range;
use std::sync::Arc;

use nandle_io::Cause;

use super::page::Page;

/// An operation that began on a [`Media`](super::Media). Completing it uses it up; one that is dropped stays in flight
/// for ever.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "the operation stays in flight until it is completed"]
pub struct OperationId(pub(super) u64);

impl OperationId {
    /// The operation's number: how many the media had been asked before it. [`When::Operation`](super::When) names
    /// operations by it.
    pub fn number(&self) -> u64 {
        self.0
    }
}

/// What became of an operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// Whether it succeeded, as far as the device says.
    pub result: Result<(), Cause>,
    /// By how much later than the timing says the completion reaches the host.
    pub extra_latency_ns: u64,
}

/// What an operation does to one block: the block, and what it holds then (`None`: zeros).
pub(super) type Effect = (u64, Option<Page>);

/// An operation in flight. What becomes of it was decided when it began.
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

/// A write or a discard in flight.
#[derive(Debug)]
pub(super) struct PendingWrite {
    pub(super) effects: Arc<[Effect]>,
    /// Its number in the recording.
    pub(super) recorded: Option<u32>,
    /// Whether its completion covers it.
    pub(super) durable: bool,
    /// Blocks of the device's space that it will take.
    pub(super) new_blocks: u64,
}

/// The blocks that a byte range touches.
pub(super) fn blocks_of(offset_bytes: u64, length_bytes: u64, block_bytes: u64) -> Range<u64> {
    let blocks = offset_bytes / block_bytes..offset_bytes.saturating_add(length_bytes).div_ceil(block_bytes);
    debug_assert!(
        blocks.start.saturating_mul(block_bytes) <= offset_bytes && blocks.start <= blocks.end,
        "{length_bytes} bytes from {offset_bytes} on lie in {blocks:?}"
    );
    blocks
}
