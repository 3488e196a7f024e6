//! Writes a whole test file, so that later reads reach the device. Reads of sparse or unwritten
//! extents never reach it, and compressible contents favour devices that compress.
//!
//! The file is written in stretches, each followed by a flush. With a write-back cache, a single
//! flush at the end would take as long as writing everything. That would look like a stalled device
//! and overrun the time limit.

use nandle_io::{BufferMut, Completion, IoError, Nanos, Operation, Request, Wait};

use crate::Observer;
use crate::load::{Cancel, Contents, Lane, LoadError};

#[cfg(test)]
mod tests;

/// Bytes of one write.
pub const CHUNK_BYTES: u64 = 1 << 20;
const QUEUE_DEPTH: usize = 8;
/// Bytes of the first stretch.
const STRETCH_BYTES: u64 = 32 << 20;
/// Time of a stretch, including its flush, up to which stretches grow. The limit is lower if
/// [`STRETCH_PART`] of the time limit is.
const STRETCH_TIME: Nanos = Nanos::from_secs(1);
const STRETCH_PART: u64 = 8;
/// Buffer memory that [`fill`] needs in the lane.
pub const BUFFER_BYTES: u64 = CHUNK_BYTES * QUEUE_DEPTH as u64;

/// Result of filling a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FillReport {
    /// Durable bytes of the contents, from the start of the device.
    pub bytes: u64,
    /// Time taken, including flushes.
    pub elapsed: Nanos,
}

/// Error of a filling.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FillError {
    /// A write or the flush failed.
    #[error("writing the test file: {0}")]
    Write(#[from] IoError),
    /// Memory was short, the device stalled, or the user interrupted it.
    #[error("writing the test file: {0}")]
    Load(#[from] LoadError),
}

/// Parameters of a filling.
#[derive(Debug, Clone, Copy)]
pub struct FillOptions {
    /// Bytes to fill from the start of the device, rounded down to logical blocks.
    pub bytes: u64,
    /// Time after which no more is written. The last flush comes after it.
    pub time_limit: Option<Nanos>,
    /// Contents to write.
    pub contents: Contents,
}

/// Fills the start of a lane's device. All of it is durable on return.
///
/// # Errors
/// A write or flush failed, the device stopped answering, memory was short, or the user interrupted
/// it.
pub fn fill(
    lane: &mut Lane,
    options: FillOptions,
    observer: &mut dyn Observer,
    cancel: &Cancel,
) -> Result<FillReport, FillError> {
    lane.check_idle(1)?;
    let shape = &lane.device().shape;
    let bytes = options.bytes.min(shape.capacity_bytes);
    let bytes = bytes - bytes % shape.logical_block_bytes;
    let began = lane.io().now();
    let mut filling = Filling::new(lane, options, bytes)?;
    let mut stretch = Stretch::new(options.time_limit);
    while filling.finished_bytes < filling.bytes {
        let stretch_began = filling.lane.io().now();
        filling.write(stretch.bytes, observer, cancel)?;
        filling.flush()?;
        stretch.adapt(filling.lane.io().now().since(stretch_began));
    }
    let bytes = filling.finished_bytes;
    Ok(FillReport { bytes, elapsed: lane.io().now().since(began) })
}

/// Amount written between two flushes.
struct Stretch {
    bytes: u64,
    time: Nanos,
}

impl Stretch {
    fn new(time_limit: Option<Nanos>) -> Self {
        let part = time_limit.map_or(Nanos::MAX, |limit| Nanos(limit.0 / STRETCH_PART));
        Self { bytes: STRETCH_BYTES, time: STRETCH_TIME.min(part) }
    }

    /// Sizes the next stretch by the time that the last one took, including its flush.
    fn adapt(&mut self, took: Nanos) {
        if took < Nanos(self.time.0 / 2) {
            self.bytes = self.bytes.saturating_mul(2);
        } else if took > self.time {
            self.bytes = (self.bytes / 2).max(CHUNK_BYTES);
        }
    }
}

struct Filling<'lane> {
    lane: &'lane mut Lane,
    contents: Contents,
    /// End of the area to fill.
    bytes: u64,
    /// Offset of the next write.
    next_bytes: u64,
    finished_bytes: u64,
    stop_at: Option<Nanos>,
    free: Vec<BufferMut>,
    completions: Vec<Completion>,
    in_flight: usize,
    last_progress: Nanos,
}

impl<'lane> Filling<'lane> {
    fn new(lane: &'lane mut Lane, options: FillOptions, bytes: u64) -> Result<Self, LoadError> {
        let chunk = usize::try_from(CHUNK_BYTES).unwrap_or(usize::MAX);
        let queue_depth = QUEUE_DEPTH.min(lane.io().slots());
        let buffers: Result<Vec<_>, _> = (0..queue_depth).map(|_| lane.arena().allocate(chunk)).collect();
        let free = buffers.map_err(|source| LoadError::Memory {
            queue_depth: u32::try_from(queue_depth).unwrap_or(u32::MAX),
            block_bytes: CHUNK_BYTES,
            source,
        })?;
        let now = lane.io().now();
        let stop_at = options.time_limit.map(|limit| now + limit);
        Ok(Self {
            lane,
            contents: options.contents,
            bytes,
            next_bytes: 0,
            finished_bytes: 0,
            stop_at,
            free,
            completions: Vec::new(),
            in_flight: 0,
            last_progress: now,
        })
    }

    /// Writes the next stretch. It is shorter at the end of the area or of the time limit.
    fn write(
        &mut self,
        stretch_bytes: u64,
        observer: &mut dyn Observer,
        cancel: &Cancel,
    ) -> Result<(), FillError> {
        let whole_bytes = self.bytes;
        let stretch_end_bytes = self.next_bytes.saturating_add(stretch_bytes);
        while self.next_bytes < self.bytes.min(stretch_end_bytes) || self.in_flight > 0 {
            self.step(stretch_end_bytes)?;
            if cancel.is_cancelled() {
                self.drain()?;
                return Err(LoadError::Cancelled.into());
            }
            observer
                .progress("writing the test file", self.finished_bytes as f64 / whole_bytes.max(1) as f64);
        }
        Ok(())
    }

    /// Submits as many writes as there are buffers, and waits for one to complete.
    fn step(&mut self, stretch_end_bytes: u64) -> Result<(), FillError> {
        let now = self.lane.io().now();
        if self.stop_at.is_some_and(|stop_at| now >= stop_at) {
            self.bytes = self.next_bytes;
        }
        while self.next_bytes < self.bytes.min(stretch_end_bytes)
            && let Some(mut buffer) = self.free.pop()
        {
            let offset = self.next_bytes;
            // The last write may be shorter than its buffer.
            let length = CHUNK_BYTES.min(self.bytes - offset);
            let mut chunk = buffer.split_to(usize::try_from(length).unwrap_or(usize::MAX));
            self.contents.fill(offset, &mut chunk);
            self.submit(Operation::write(offset, chunk.freeze()))?;
            self.next_bytes += length;
        }
        if self.in_flight > 0 { self.collect() } else { Ok(()) }
    }

    /// # Errors
    /// The world refused a request although none is in flight.
    fn submit(&mut self, operation: Operation) -> Result<(), LoadError> {
        let device = self.lane.device().id;
        let slots = self.lane.io().slots();
        let queue_depth = u32::try_from(self.in_flight + 1).unwrap_or(u32::MAX);
        let taken = self.lane.io().submit(device, Request { token: 0, operation });
        taken.map_err(|_| LoadError::TooDeep { queue_depth, slots })?;
        self.in_flight += 1;
        Ok(())
    }

    fn collect(&mut self) -> Result<(), FillError> {
        let mut completions = std::mem::take(&mut self.completions);
        self.lane.io().reap(Wait::until_completed(1), &mut completions);
        let now = self.lane.io().now();
        if !completions.is_empty() {
            self.last_progress = now;
        }
        let mut result = self.check(now);
        for completion in completions.drain(..) {
            self.in_flight -= 1;
            match completion.result {
                Ok(()) if matches!(completion.operation, Operation::Write { .. }) => {
                    self.finished_bytes += completion.operation.length_bytes();
                }
                Ok(()) => {}
                Err(error) => result = Err(error.into()),
            }
            self.recycle(completion.operation);
        }
        self.completions = completions;
        result
    }

    fn check(&self, now: Nanos) -> Result<(), FillError> {
        let silent = now.since(self.last_progress);
        if silent < self.lane.patience {
            return Ok(());
        }
        let (outstanding, offset_bytes) = (self.in_flight, self.finished_bytes);
        // When all writes have completed, only the flush remains.
        let operation = if offset_bytes == self.next_bytes { "flush" } else { "write" };
        Err(LoadError::Stalled { silent, outstanding, operation, offset_bytes, age: silent }.into())
    }

    fn recycle(&mut self, operation: Operation) {
        if let Operation::Write { from, .. } = operation {
            self.free.extend(from.into_iter().filter_map(|buffer| buffer.thaw().ok()));
        }
    }

    fn drain(&mut self) -> Result<(), FillError> {
        while self.in_flight > 0 {
            self.collect()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), FillError> {
        self.submit(Operation::Flush)?;
        self.drain()
    }
}
