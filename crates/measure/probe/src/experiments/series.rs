//! Individually timed requests, one at a time: the building block of uFLIP's micro-benchmarks.

use nandle_io::{Buffer, BufferMut, Nanos, Operation};
use nandle_profile::OperationKind;

use super::Lab;
use crate::load::{Contents, LoadError};
use crate::pattern::{Generator, Pattern, below, generator};

/// Size of the incompressible pool that writes are cut from.
const POOL_BYTES: usize = 8 << 20;
/// Alignment of a cut.
const CUT_BYTES: usize = 4096;

/// Pool that writes are cut from.
pub(super) struct Pool {
    bytes: Buffer,
    generator: Generator,
}

impl Pool {
    /// Creates a pool for writes of up to `block_bytes_max`.
    ///
    /// # Errors
    /// The lane has too little memory.
    pub(super) fn new(lab: &Lab<'_>, block_bytes_max: u64) -> Result<Self, LoadError> {
        let length = usize::try_from(block_bytes_max).unwrap_or(usize::MAX);
        let mut bytes = allocate(lab, length.saturating_add(POOL_BYTES))?;
        Contents::new(!lab.seed).fill(0, &mut bytes);
        Ok(Self { bytes: bytes.freeze(), generator: generator(lab.seed, 61) })
    }

    /// Returns a slice of the pool at a random position.
    pub(super) fn cut(&mut self, block_bytes: u64) -> Buffer {
        let length = usize::try_from(block_bytes).unwrap_or(usize::MAX).min(self.bytes.len());
        let places = (self.bytes.len() - length) / CUT_BYTES + 1;
        let start = usize::try_from(below(&mut self.generator, places as u64)).unwrap_or(0) * CUT_BYTES;
        self.bytes.slice(start..start + length)
    }

    fn reads(&mut self, operation: OperationKind) -> bool {
        match operation {
            OperationKind::Read => true,
            OperationKind::Write => false,
            OperationKind::Mixed { read_percent } => below(&mut self.generator, 100) < read_percent.into(),
        }
    }
}

fn allocate(lab: &Lab<'_>, length: usize) -> Result<BufferMut, LoadError> {
    let block_bytes = length as u64;
    lab.lane.arena().allocate(length).map_err(|source| LoadError::Memory {
        queue_depth: 1,
        block_bytes,
        source,
    })
}

/// Requests and their distribution over time.
pub(super) struct Walk {
    pub(super) pattern: Pattern,
    pub(super) operation: OperationKind,
    pub(super) block_bytes: u64,
    /// Pause after each burst.
    pub(super) pause: Nanos,
    /// Requests between two pauses, at least 1.
    pub(super) burst_requests: u64,
}

/// Bounds of a series: it lasts for `time`, but has at least `requests_least` and at most
/// `requests_most` requests.
#[derive(Debug, Clone, Copy)]
pub(super) struct Length {
    pub(super) time: Nanos,
    pub(super) requests_least: u64,
    pub(super) requests_most: u64,
}

/// Runs requests one at a time and returns the latency of each in nanoseconds. The series ends
/// early at the write limit and at the end of the experiment's time.
///
/// # Errors
/// A request failed, the device stopped answering, or the user interrupted it.
pub(super) fn series(
    lab: &mut Lab<'_>,
    pool: &mut Pool,
    walk: &mut Walk,
    length: Length,
) -> Result<Vec<u64>, LoadError> {
    let began = lab.now();
    let block = usize::try_from(walk.block_bytes).unwrap_or(usize::MAX);
    let mut spare = if walk.operation == OperationKind::Write { None } else { Some(allocate(lab, block)?) };
    let mut latencies_ns = Vec::new();
    loop {
        let count = latencies_ns.len() as u64;
        let passed = lab.now().since(began);
        let enough = count >= length.requests_least && passed >= length.time;
        if enough || count >= length.requests_most || lab.time_left() == Nanos::ZERO {
            return Ok(latencies_ns);
        }
        if walk.pause > Nanos::ZERO && count > 0 && count.is_multiple_of(walk.burst_requests.max(1)) {
            lab.pause(walk.pause)?;
        }
        let Some(offset_bytes) = walk.pattern.next() else { return Ok(latencies_ns) };
        let into = if pool.reads(walk.operation) { spare.take() } else { None };
        let operation = match into {
            Some(into) => Operation::read(offset_bytes, into),
            None if lab.write_left_bytes() < walk.block_bytes => {
                lab.out_of_writes();
                return Ok(latencies_ns);
            }
            None => {
                lab.count_written(walk.block_bytes);
                Operation::write(offset_bytes, pool.cut(walk.block_bytes))
            }
        };
        let (took, operation) = lab.carry_out(operation)?;
        spare = operation.into_read_buffer().or(spare);
        latencies_ns.push(took.0);
    }
}
