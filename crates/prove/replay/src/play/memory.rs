use nandle_io::{Arena, Buffer, Operation};
use nandle_trace::Operation as Traced;

use super::PlayError;
use super::requests::Piece;
use crate::contents;

/// The most bytes of one operation on the device; longer requests are cut.
pub(super) const PIECE_BYTES_MAX: u64 = 4 << 20;
/// Incompressible bytes that writes are cut from: twice the longest of them.
const WRITE_POOL_BYTES: usize = 8 << 20;
/// Where a cut begins is a multiple of this.
const CUT_BYTES: usize = 4096;

/// The memory of requests.
pub(super) struct Memory {
    /// Reads go into it.
    reads: Arena,
    /// Writes come from it, each from another place than the one before.
    writes: Buffer,
    cuts: usize,
}

impl Memory {
    pub(super) fn new(read_bytes: u64) -> Result<Self, PlayError> {
        let read_bytes = usize::try_from(read_bytes.max(PIECE_BYTES_MAX)).unwrap_or(usize::MAX);
        let reads = Arena::new(read_bytes)?;
        let mut pool = Arena::new(WRITE_POOL_BYTES)?.allocate(WRITE_POOL_BYTES)?;
        contents::fill_noise(&mut pool);
        Ok(Self { reads, writes: pool.freeze(), cuts: 0 })
    }

    /// An operation of at most [`PIECE_BYTES_MAX`]; `None` while there is no memory for it.
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
        // A prime, so that the places of any length are gone through.
        self.cuts = self.cuts.wrapping_add(7919);
        let start = self.cuts % places * CUT_BYTES;
        self.writes.slice(start..start + length)
    }
}
