use nandle_io::{Access, DurableWrites, Shape};

use super::contents::{Contents, NoContents};
use crate::timing::Timing;

/// As the real worlds have it.
const LARGEST_TRANSFER_BYTES: u64 = 1 << 30;
/// What direct I/O on real drives needs at most.
const MEMORY_ALIGNMENT_BYTES: u64 = 512;

/// A device to put into a [`ModelWorld`](super::ModelWorld): its shape and its two halves.
pub struct ModelledDevice {
    /// What it can do.
    pub shape: Shape,
    /// When its requests complete.
    pub timing: Box<dyn Timing>,
    /// What it stores.
    pub contents: Box<dyn Contents>,
}

impl ModelledDevice {
    /// A device that keeps no contents, takes discards, and makes a write durable by one command.
    pub fn new(timing: Box<dyn Timing>, capacity_bytes: u64, logical_block_bytes: u64) -> Self {
        let shape = Shape {
            capacity_bytes,
            logical_block_bytes,
            memory_alignment_bytes: MEMORY_ALIGNMENT_BYTES,
            largest_transfer_bytes: LARGEST_TRANSFER_BYTES,
            access: Access::Direct,
            durable_writes: DurableWrites::OneCommand,
            writable: true,
            discards: true,
        };
        Self { shape, timing, contents: Box::new(NoContents) }
    }

    /// The same device with contents.
    #[must_use]
    pub fn with_contents(self, contents: impl Contents + 'static) -> Self {
        Self { contents: Box::new(contents), ..self }
    }
}

impl std::fmt::Debug for ModelledDevice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ModelledDevice").field("shape", &self.shape).finish_non_exhaustive()
    }
}
