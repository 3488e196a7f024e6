use nandle_io::{Access, DurableWrites, Shape};

use crate::media::{Media, WriteCache};
use crate::timing::Timing;

/// As the real worlds have it.
const LARGEST_TRANSFER_BYTES: u64 = 1 << 30;
/// What direct I/O on real drives needs at most.
const MEMORY_ALIGNMENT_BYTES: u64 = 512;

/// A device to put into a [`ModelWorld`](super::ModelWorld), or, with [media](Self::media), into a
/// [`MediaWorld`](crate::media::MediaWorld).
pub struct ModelledDevice {
    /// What it can do.
    pub shape: Shape,
    /// When its requests complete.
    pub timing: Box<dyn Timing>,
    /// What its acknowledgements are worth at a power cut. Only media make use of it.
    pub write_cache: WriteCache,
}

impl ModelledDevice {
    /// A device with a volatile write cache that takes discards, and makes a write durable by one command.
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
        Self { shape, timing, write_cache: WriteCache::default() }
    }

    /// Media of its capacity and logical block, with its write cache: zeros, without faults, not recorded.
    pub fn media(&self) -> Media {
        Media::of_shape(&self.shape).with_cache(self.write_cache)
    }
}

impl std::fmt::Debug for ModelledDevice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ModelledDevice")
            .field("shape", &self.shape)
            .field("write_cache", &self.write_cache)
            .finish_non_exhaustive()
    }
}
