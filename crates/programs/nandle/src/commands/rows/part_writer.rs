//! Writes one part of a new file with direct I/O: whole blocks, several requests in flight. Blocks
//! shared with neighbouring parts are written normally.

use std::collections::VecDeque;
use std::ops::Range;
use std::os::unix::fs::MetadataExt as _;
use std::sync::Arc;

use nandle_io::runtime::{AsyncDevice, Handle, Reply};
use nandle_io::{Access, Arena, Buffer, BufferMut, DeviceFile, DeviceId, FileOptions, Operation};

use super::output::NewFile;
use crate::error::CliError;

/// Requests in flight, if memory permits.
const DEPTH_MAX: usize = 8;

/// With larger blocks the parts would share too much.
const BLOCK_BYTES_MAX: u64 = 64 << 10;

/// A new file as a device, and its block length: the greatest of memory page, file system block and
/// device block.
pub(crate) struct PartedFile {
    pub(crate) device: Arc<DeviceFile>,
    block_bytes: usize,
}

impl PartedFile {
    /// Returns `None` without direct I/O, since parts then gain nothing.
    pub(crate) fn of(file: &NewFile) -> Option<Self> {
        let again = file.reopen().ok()?;
        let block_bytes = (rustix::param::page_size() as u64).max(again.metadata().ok()?.blksize());
        let device = DeviceFile::new(again, FileOptions::default()).ok()?;
        let shape = device.shape();
        let block_bytes = block_bytes.max(shape.logical_block_bytes).max(shape.memory_alignment_bytes);
        let is_direct = shape.access == Access::Direct;
        if !is_direct || block_bytes > BLOCK_BYTES_MAX || !block_bytes.is_power_of_two() {
            return None;
        }
        let device = Arc::new(device.growing_to(i64::MAX.cast_unsigned()));
        Some(Self { device, block_bytes: usize::try_from(block_bytes).ok()? })
    }
}

/// See the [module](self).
pub(crate) struct PartWriter<'f> {
    file: &'f NewFile,
    device: AsyncDevice,
    block_bytes: usize,
    /// File offset of the buffer being filled.
    base_bytes: u64,
    filling: BufferMut,
    /// Bytes of the buffer before this belong to another part.
    from: usize,
    to: usize,
    spare: Vec<BufferMut>,
    in_flight: VecDeque<(Reply, Buffer)>,
    _arena: Arena,
}

impl<'f> PartWriter<'f> {
    /// Writes from an offset, with `memory_bytes` of buffers.
    pub(crate) fn new(
        (file, parted): (&'f NewFile, &PartedFile),
        (handle, device): (&Handle, DeviceId),
        offset_bytes: u64,
        memory_bytes: usize,
    ) -> Result<Self, CliError> {
        let block_bytes = parted.block_bytes;
        let buffers = (memory_bytes / block_bytes).clamp(2, DEPTH_MAX);
        let buffer_bytes = (memory_bytes / buffers / block_bytes).max(1) * block_bytes;
        let failed = |error| file.failed(&format!("memory for its buffers: {error}"));
        let arena = Arena::new(buffers * buffer_bytes).map_err(failed)?;
        let spare: Result<Vec<BufferMut>, _> = (0..buffers).map(|_| arena.allocate(buffer_bytes)).collect();
        let mut spare = spare.map_err(failed)?;
        let Some(filling) = spare.pop() else { unreachable!("there are two buffers at least") };
        let within = offset_bytes % block_bytes as u64;
        let from = usize::try_from(within).unwrap_or_default();
        Ok(Self {
            file,
            device: handle.device(device),
            block_bytes,
            base_bytes: offset_bytes - within,
            filling,
            from,
            to: from,
            spare,
            in_flight: VecDeque::new(),
            _arena: arena,
        })
    }

    pub(crate) async fn push(&mut self, mut bytes: &[u8]) -> Result<(), CliError> {
        loop {
            let taken = self.take(bytes);
            if taken == bytes.len() {
                return Ok(());
            }
            bytes = bytes.get(taken..).unwrap_or_default();
            self.send().await?;
        }
    }

    /// Copies as many bytes as fit. Returns their number.
    fn take(&mut self, bytes: &[u8]) -> usize {
        let room = self.filling.get_mut(self.to..).unwrap_or_default();
        let fitting = room.len().min(bytes.len());
        if let (Some(room), Some(bytes)) = (room.get_mut(..fitting), bytes.get(..fitting)) {
            room.copy_from_slice(bytes);
        }
        self.to += fitting;
        fitting
    }

    /// Submits the filled buffer.
    async fn send(&mut self) -> Result<(), CliError> {
        let next = match self.spare.pop() {
            Some(next) => next,
            None => self.oldest_written().await?,
        };
        let full = std::mem::replace(&mut self.filling, next);
        let whole = full.len();
        let first = self.write_front(&full)?;
        self.request(full, first..whole);
        self.base_bytes += whole as u64;
        (self.from, self.to) = (0, 0);
        Ok(())
    }

    /// Writes this part's share of the first block. Returns the offset of the next block.
    fn write_front(&self, buffer: &BufferMut) -> Result<usize, CliError> {
        if self.from == 0 {
            return Ok(0);
        }
        let end = self.block_bytes.min(self.to);
        let front = buffer.get(self.from..end).unwrap_or_default();
        self.file.write_at(front, self.base_bytes + self.from as u64)?;
        Ok(self.block_bytes)
    }

    fn request(&mut self, buffer: BufferMut, range: Range<usize>) {
        if range.is_empty() {
            self.spare.push(buffer);
            return;
        }
        let whole = buffer.freeze();
        let operation = Operation::write(self.base_bytes + range.start as u64, whole.slice(range));
        self.in_flight.push_back((self.device.request(operation), whole));
    }

    async fn oldest_written(&mut self) -> Result<BufferMut, CliError> {
        let Some((reply, whole)) = self.in_flight.pop_front() else {
            unreachable!("a buffer is spare, is filled, or is in flight")
        };
        reply.await.result.map_err(|error| self.file.failed(&error.to_string()))?;
        let Ok(buffer) = whole.thaw() else {
            unreachable!("a completed write leaves the only handle to its buffer")
        };
        Ok(buffer)
    }

    /// Waits until everything is written. Returns the end of the part.
    pub(crate) async fn finish(mut self) -> Result<u64, CliError> {
        let end_bytes = self.base_bytes + self.to as u64;
        let next = match self.spare.pop() {
            Some(next) => next,
            None => self.oldest_written().await?,
        };
        let last = std::mem::replace(&mut self.filling, next);
        self.write_last(last)?;
        while !self.in_flight.is_empty() {
            self.oldest_written().await?;
        }
        Ok(end_bytes)
    }

    fn write_last(&mut self, full: BufferMut) -> Result<(), CliError> {
        let first = self.write_front(&full)?;
        let whole = self.to - self.to % self.block_bytes;
        if whole.max(first) < self.to {
            let tail = full.get(whole.max(first)..self.to).unwrap_or_default();
            self.file.write_at(tail, self.base_bytes + whole.max(first) as u64)?;
        }
        self.request(full, first..whole.max(first));
        Ok(())
    }
}
