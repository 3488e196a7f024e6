use nandle_io::{Access, DurableWrites, Shape};

use crate::media::{Media, WriteCache};
use crate::timing::Timing;

/// Limit of the real worlds.
const LARGEST_TRANSFER_BYTES: u64 = 1 << 30;
/// Largest alignment that direct I/O on real drives needs.
const MEMORY_ALIGNMENT_BYTES: u64 = 512;

/// Device for a [`ModelWorld`](super::ModelWorld) or, with [media](Self::media), for a
/// [`MediaWorld`](crate::media::MediaWorld).
pub struct ModelledDevice {
    /// Capacity, block sizes and commands.
    pub shape: Shape,
    /// Timing model.
    pub timing: Box<dyn Timing>,
    /// Durability of acknowledged writes at a power cut. Used by media only.
    pub write_cache: WriteCache,
}

impl ModelledDevice {
    /// Device with a volatile write cache, with discards, and with durable writes in one command.
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

    /// Media of the device's capacity, logical block and write cache: zeros, without faults, not
    /// recorded.
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
