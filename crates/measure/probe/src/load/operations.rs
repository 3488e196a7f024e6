use std::collections::VecDeque;

use nandle_io::buffer::GRAIN_BYTES;
use nandle_io::{Arena, ArenaError, Buffer, BufferMut, Device, Operation};
use nandle_profile::OperationKind;

use super::{Contents, LoadError};
use crate::pattern::{Generator, Pattern, below, generator};

/// Work of a run: addresses, block size and kind of operation.
pub struct Work {
    /// Addresses, each the start of a block.
    pub pattern: Pattern,
    /// Bytes of one request.
    pub block_bytes: u64,
    /// Read, write, or a mix.
    pub operation: OperationKind,
    /// Contents that reads must return; `None` if unknown.
    pub contents: Option<Contents>,
    /// Seed of the mix and of the written data.
    pub seed: u64,
}

/// Default of [`LaneOptions::read_pool_bytes`](super::LaneOptions::read_pool_bytes).
pub const READ_POOL_BYTES: u64 = 64 << 20;
/// Size of the incompressible pool that writes are cut from. It exceeds the window of compressing
/// devices.
const WRITE_POOL_BYTES: usize = 8 << 20;
/// Smallest pool of a lane that is one of many.
const WRITE_POOL_BYTES_MIN: usize = 512 << 10;
/// Alignment of a cut.
const CUT_BYTES: usize = 4096;

/// Creates the operations of a run and owns the memory of those not in flight.
pub(super) struct Operations {
    work: Work,
    generator: Generator,
    /// Free buffers, reused in the order in which they were returned.
    read_buffers: VecDeque<BufferMut>,
    write_pool: Option<Buffer>,
}

impl Operations {
    pub(super) fn new(
        work: Work,
        device: &Device,
        arena: &Arena,
        queue_depth: u32,
    ) -> Result<Self, LoadError> {
        let block_bytes = work.block_bytes;
        check_block(block_bytes, device)?;
        let memory = |source| LoadError::Memory { queue_depth, block_bytes, source };
        let length = usize::try_from(block_bytes).unwrap_or(usize::MAX);
        let (reads, writes) = match work.operation {
            OperationKind::Read => (true, false),
            OperationKind::Write => (false, true),
            OperationKind::Mixed { .. } => (true, true),
        };
        let write_pool =
            if writes { Some(write_pool(arena, length, work.seed).map_err(memory)?) } else { None };
        let buffers = if reads { queue_depth } else { 0 };
        let read_buffers: Result<_, _> = (0..buffers).map(|_| arena.allocate(length)).collect();
        let generator = generator(work.seed, 17);
        Ok(Self { work, generator, read_buffers: read_buffers.map_err(memory)?, write_pool })
    }

    pub(super) fn has_reads(&self) -> bool {
        !self.read_buffers.is_empty()
    }

    /// Lets reads cycle through `part_bytes` of a pool, starting at a random buffer. Does nothing
    /// if that part holds fewer buffers than there are.
    ///
    /// # Errors
    /// The part of the pool is in use.
    pub(super) fn spread_reads(&mut self, pool: &Arena, part_bytes: usize) -> Result<(), ArenaError> {
        let Some(length) = self.read_buffers.front().map(BufferMut::len) else { return Ok(()) };
        let taken = length.next_multiple_of(GRAIN_BYTES);
        let count = part_bytes / taken;
        if count < self.read_buffers.len() {
            return Ok(());
        }
        let mut part = pool.allocate(count * taken)?;
        self.read_buffers = (0..count).map(|_| part.split_to(taken).split_to(length)).collect();
        let first = below(&mut self.generator, count as u64);
        self.read_buffers.rotate_left(usize::try_from(first).unwrap_or_default());
        Ok(())
    }

    pub(super) fn block_bytes(&self) -> u64 {
        self.work.block_bytes
    }

    /// The next operation; `None` if no read buffer is free.
    pub(super) fn next(&mut self) -> Option<Operation> {
        let offset_bytes = self.work.pattern.next()?;
        let reads = match self.work.operation {
            OperationKind::Read => true,
            OperationKind::Write => false,
            OperationKind::Mixed { read_percent } => {
                below(&mut self.generator, 100) < u64::from(read_percent)
            }
        };
        if reads {
            Some(Operation::read(offset_bytes, self.read_buffers.pop_front()?))
        } else {
            Some(Operation::write(offset_bytes, self.cut()?))
        }
    }

    /// A slice of the pool at a random position, so that neighbouring writes differ.
    fn cut(&mut self) -> Option<Buffer> {
        let pool = self.write_pool.as_ref()?;
        let length = usize::try_from(self.work.block_bytes).ok()?;
        let places = (pool.len() - length) / CUT_BYTES + 1;
        let start = usize::try_from(below(&mut self.generator, places as u64)).ok()? * CUT_BYTES;
        Some(pool.slice(start..start + length))
    }

    /// Takes back the memory of a completed operation.
    pub(super) fn recycle(&mut self, operation: Operation) {
        self.read_buffers.extend(operation.into_read_buffer());
    }

    /// Returns true if a completed read has wrong contents.
    pub(super) fn is_damaged(&self, operation: &Operation) -> bool {
        match (self.work.contents, operation) {
            (Some(contents), Operation::Read { offset_bytes, into }) => {
                !into.iter().all(|buffer| contents.matches_ends(*offset_bytes, buffer))
            }
            _ => false,
        }
    }
}

fn check_block(block_bytes: u64, device: &Device) -> Result<(), LoadError> {
    let shape = &device.shape;
    let needed = shape.logical_block_bytes.max(shape.memory_alignment_bytes);
    let reason = if block_bytes == 0 {
        "a request has at least one byte".into()
    } else if !block_bytes.is_multiple_of(needed) {
        format!("direct I/O on this device needs multiples of {needed} bytes")
    } else if block_bytes > shape.largest_transfer_bytes {
        format!("one request may have at most {} bytes", shape.largest_transfer_bytes)
    } else if block_bytes > shape.capacity_bytes {
        format!("the device or file has only {} bytes", shape.capacity_bytes)
    } else {
        return Ok(());
    };
    Err(LoadError::Block { block_bytes, reason })
}

/// Creates the write pool, as large as the lane's memory allows.
fn write_pool(arena: &Arena, block_bytes: usize, seed: u64) -> Result<Buffer, ArenaError> {
    let mut pool_bytes = WRITE_POOL_BYTES;
    let mut pool = loop {
        match arena.allocate(block_bytes.saturating_add(pool_bytes)) {
            Err(_) if pool_bytes > WRITE_POOL_BYTES_MIN => pool_bytes /= 2,
            allocated => break allocated?,
        }
    };
    Contents::new(!seed).fill(0, &mut pool);
    Ok(pool.freeze())
}
