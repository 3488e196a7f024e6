use nandle_io::{Arena, Buffer, Operation};
use nandle_trace::Operation as Traced;

use super::PlayError;
use super::requests::Piece;
use crate::contents;

/// Maximum length of an operation on the device, in bytes; longer requests are split.
pub(super) const PIECE_BYTES_MAX: u64 = 4 << 20;
/// Length of the pool of incompressible bytes for writes: twice the longest write.
const WRITE_POOL_BYTES: usize = 8 << 20;
/// Alignment of a write's start in the pool.
const CUT_BYTES: usize = 4096;

/// Buffers for requests.
pub(super) struct RequestMemory {
    /// Memory for reads.
    reads: Arena,
    /// Pool for writes; consecutive writes use different places in it.
    writes: Buffer,
    cuts: usize,
}

impl RequestMemory {
    pub(super) fn new(read_bytes: u64) -> Result<Self, PlayError> {
        let read_bytes = usize::try_from(read_bytes.max(PIECE_BYTES_MAX)).unwrap_or(usize::MAX);
        let reads = Arena::new(read_bytes)?;
        let mut pool = Arena::new(WRITE_POOL_BYTES)?.allocate(WRITE_POOL_BYTES)?;
        contents::fill_noise(&mut pool);
        Ok(Self { reads, writes: pool.freeze(), cuts: 0 })
    }

    /// Creates an operation of at most [`PIECE_BYTES_MAX`] bytes. Returns `None` while there is no
    /// memory for it.
    pub(super) fn operation(&mut self, traced: Traced, piece: Piece) -> Option<Operation> {
        let Piece { offset_bytes, length_bytes } = piece;
        let length = usize::try_from(length_bytes).ok()?;
        match traced {
            Traced::Read => Some(Operation::read(offset_bytes, self.reads.allocate(length).ok()?)),
            Traced::Write | Traced::Append => Some(Operation::write(offset_bytes, self.cut(length))),
            Traced::Sync | Traced::ZoneFinish | Traced::ZoneOpen | Traced::ZoneClose => {
                Some(Operation::Flush)
            }
            Traced::Discard | Traced::ZoneReset => Some(Operation::Discard { offset_bytes, length_bytes }),
        }
    }

    fn cut(&mut self, length: usize) -> Buffer {
        let places = (self.writes.len() - length) / CUT_BYTES + 1;
        // The stride is a prime, so that all places are used for any length.
        self.cuts = self.cuts.wrapping_add(7919);
        let start = self.cuts % places * CUT_BYTES;
        self.writes.slice(start..start + length)
    }
}
