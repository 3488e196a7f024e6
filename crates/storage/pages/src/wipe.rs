//! Zeroes places that a new store takes over.

use std::ops::Range;
use std::rc::Rc;

use nandle_io::{Arena, Buffer, WriteBuffers};

use crate::disk::Disk;
use crate::size::to_usize;
use crate::{BLOCK_BYTES, PageError};

const PIECE_BYTES: usize = 1 << 20;

/// Writes zeros.
pub(crate) struct Wiper {
    zeros: Buffer,
}

impl Wiper {
    pub(crate) fn new() -> Result<Self, PageError> {
        let mut zeros = Arena::new(PIECE_BYTES)?.allocate(PIECE_BYTES)?;
        zeros.fill(0);
        Ok(Self { zeros: zeros.freeze() })
    }

    /// Wipes whole blocks, without a flush.
    pub(crate) async fn wipe(&self, disk: &Rc<Disk>, range: Range<u64>) -> Result<(), PageError> {
        debug_assert!(range.start <= range.end, "{range:?}");
        debug_assert!(range.start.is_multiple_of(BLOCK_BYTES as u64), "whole blocks: {range:?}");
        let mut offset_bytes = range.start;
        while offset_bytes < range.end {
            let bytes = (range.end - offset_bytes).min(PIECE_BYTES as u64);
            let piece = self.zeros.slice(0..to_usize(bytes));
            let from: WriteBuffers = [piece].into_iter().collect();
            disk.write("wiping the place of the store", offset_bytes, from).await?;
            offset_bytes += bytes;
        }
        Ok(())
    }
}
