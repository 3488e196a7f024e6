use rand::{Rng, RngExt};
use rand_xoshiro::Xoshiro256PlusPlus;
use smallvec::SmallVec;

use crate::buffer::GRAIN_BYTES;
use crate::{Arena, Buffer, BufferMut, Device, Io, ReadBuffers, WriteBuffers};

/// Limit of buffers in one random request.
const BUFFERS_MAX: usize = 4;

/// Random memory for random requests: from registered and unregistered arenas, at odd addresses, in
/// odd orders, shared and not.
pub(super) struct Memory {
    arenas: [Arena; 2],
    block_bytes: usize,
    alignment_bytes: usize,
}

impl Memory {
    pub(super) fn new(io: &mut dyn Io, device: &Device, arena_bytes: usize) -> Self {
        let arenas = [Arena::new(arena_bytes).unwrap(), Arena::new(arena_bytes).unwrap()];
        let registered = io.register(&arenas[0]);
        assert!(registered <= arenas[0].bytes());
        Self {
            arenas,
            block_bytes: usize::try_from(device.shape.logical_block_bytes).unwrap(),
            alignment_bytes: usize::try_from(device.shape.memory_alignment_bytes).unwrap(),
        }
    }

    /// Buffers for `bytes`: separate ones, or parts of one, sometimes reversed.
    pub(super) fn for_read(&self, rng: &mut Xoshiro256PlusPlus, bytes: usize) -> ReadBuffers {
        let lengths = self.cut(rng, bytes);
        if rng.random() {
            return lengths.iter().map(|length| self.odd_buffer(rng, *length)).collect();
        }
        let mut rest = self.odd_buffer(rng, bytes);
        let mut parts: ReadBuffers = lengths.iter().map(|length| rest.split_to(*length)).collect();
        if rng.random() {
            parts.reverse();
        }
        parts
    }

    /// Buffers of `bytes` random bytes.
    pub(super) fn for_write(&self, rng: &mut Xoshiro256PlusPlus, bytes: usize) -> WriteBuffers {
        if rng.random_ratio(1, 3) {
            return self.slices_of_one(rng, bytes);
        }
        let mut parts = self.for_read(rng, bytes);
        parts.iter_mut().for_each(|part| rng.fill_bytes(part));
        parts.into_iter().map(BufferMut::freeze).collect()
    }

    /// Slices of one shared buffer, which overlap.
    fn slices_of_one(&self, rng: &mut Xoshiro256PlusPlus, bytes: usize) -> WriteBuffers {
        let lengths = self.cut(rng, bytes);
        let longest = lengths.iter().copied().max().unwrap_or(0);
        let mut whole = self.odd_buffer(rng, longest);
        rng.fill_bytes(&mut whole);
        let shared: Buffer = whole.freeze();
        lengths.iter().map(|length| shared.slice(longest - length..longest)).collect()
    }

    /// Buffer at a random valid address.
    fn odd_buffer(&self, rng: &mut Xoshiro256PlusPlus, bytes: usize) -> BufferMut {
        let steps = GRAIN_BYTES / self.alignment_bytes.min(GRAIN_BYTES);
        let skipped = rng.random_range(0..steps) * self.alignment_bytes;
        let arena = &self.arenas[rng.random_range(0..2)];
        let mut buffer = arena.allocate(skipped + bytes).expect("the suite's arenas are large enough");
        let _ = buffer.split_to(skipped);
        buffer
    }

    /// Splits a length into one to four lengths of whole logical blocks.
    fn cut(&self, rng: &mut Xoshiro256PlusPlus, bytes: usize) -> SmallVec<[usize; BUFFERS_MAX]> {
        let blocks = bytes / self.block_bytes;
        let count = rng.random_range(1..=BUFFERS_MAX.min(blocks));
        let mut lengths = SmallVec::new();
        let mut left = blocks;
        for more in (0..count).rev() {
            let length = if more == 0 { left } else { rng.random_range(1..=left - more) };
            lengths.push(length * self.block_bytes);
            left -= length;
        }
        lengths
    }
}
