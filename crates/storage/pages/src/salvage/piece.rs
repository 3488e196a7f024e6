use std::collections::BTreeSet;
use std::rc::Rc;

use nandle_io::Arena;

use super::finding::Problem;
use crate::disk::Disk;
use crate::size::to_usize;
use crate::{BLOCK_BYTES, PageError};

const BLOCK: u64 = BLOCK_BYTES as u64;
/// Maximum bytes per request.
pub(super) const PIECE_BYTES: u64 = 1 << 20;

/// Reads all readable blocks, and never writes.
pub(super) struct PieceReader {
    disk: Rc<Disk>,
    arena: Arena,
}

/// Blocks of the device, each readable or not.
pub(crate) struct Piece {
    offset_bytes: u64,
    bytes: Vec<u8>,
    /// Offsets of unreadable blocks.
    unreadable: BTreeSet<u64>,
}

impl PieceReader {
    pub(super) fn new(disk: &Rc<Disk>) -> Result<Self, PageError> {
        Ok(Self { disk: Rc::clone(disk), arena: Arena::new(to_usize(PIECE_BYTES))? })
    }

    pub(super) fn capacity_bytes(&self) -> u64 {
        self.disk.shape().capacity_bytes
    }

    /// Reads whole blocks, and block by block after an error.
    ///
    /// # Errors
    /// No memory is available.
    pub(super) async fn read(&self, offset_bytes: u64, length_bytes: u64) -> Result<Piece, PageError> {
        debug_assert!(offset_bytes.is_multiple_of(BLOCK) && length_bytes.is_multiple_of(BLOCK));
        let mut piece =
            Piece { offset_bytes, bytes: vec![0; to_usize(length_bytes)], unreadable: BTreeSet::new() };
        let mut done_bytes = 0;
        while done_bytes < length_bytes {
            let length = (length_bytes - done_bytes).min(PIECE_BYTES);
            if !self.read_part(&mut piece, done_bytes, length).await? {
                for block in (done_bytes..done_bytes + length).step_by(BLOCK_BYTES) {
                    if !self.read_part(&mut piece, block, BLOCK).await? {
                        piece.unreadable.insert(offset_bytes + block);
                    }
                }
            }
            done_bytes += length;
        }
        Ok(piece)
    }

    async fn read_part(&self, piece: &mut Piece, start: u64, length: u64) -> Result<bool, PageError> {
        let offset_bytes = piece.offset_bytes + start;
        // Nothing lies beyond the end of a truncated file.
        if offset_bytes.saturating_add(length) > self.disk.shape().capacity_bytes {
            return Ok(false);
        }
        let into = self.arena.allocate(to_usize(length))?;
        let Ok(read) = self.disk.read("examining the store", offset_bytes, into).await else {
            return Ok(false);
        };
        let range = to_usize(start)..to_usize(start + length);
        let Some(place) = piece.bytes.get_mut(range) else { unreachable!("a piece has its parts") };
        place.copy_from_slice(&read);
        Ok(true)
    }
}

impl Piece {
    /// A range of bytes.
    pub(crate) fn bytes(&self, offset_bytes: u64, length_bytes: u64) -> Result<&[u8], Problem> {
        let first_block = offset_bytes / BLOCK * BLOCK;
        if self.unreadable.range(first_block..offset_bytes + length_bytes).next().is_some() {
            return Err(Problem::Unreadable);
        }
        let start = to_usize(offset_bytes - self.offset_bytes);
        self.bytes.get(start..start + to_usize(length_bytes)).ok_or(Problem::Unreadable)
    }

    /// Blocks with their offsets.
    pub(crate) fn blocks(&self) -> impl Iterator<Item = (u64, Result<&[u8], Problem>)> {
        let offsets = (self.offset_bytes..).step_by(BLOCK_BYTES);
        offsets.zip(self.bytes.chunks(BLOCK_BYTES)).map(|(offset_bytes, block)| {
            let is_readable = !self.unreadable.contains(&offset_bytes);
            (offset_bytes, if is_readable { Ok(block) } else { Err(Problem::Unreadable) })
        })
    }

    /// All bytes.
    pub(crate) fn whole(&self) -> Result<&[u8], Problem> {
        self.bytes(self.offset_bytes, self.bytes.len() as u64)
    }
}

/// Problem of unexpected bytes.
pub(crate) fn problem_of(bytes: Result<&[u8], Problem>) -> Problem {
    match bytes {
        Ok(bytes) if bytes.iter().all(|byte| *byte == 0) => Problem::Zeroed,
        Ok(_) => Problem::Damaged,
        Err(problem) => problem,
    }
}
