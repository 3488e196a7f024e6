//! Reads of the store's own structures that continue past unreadable blocks, which count as
//! invalid.

use std::ops::Range;

use nandle_io::{Arena, Buffer, BufferMut};

use crate::disk::{Disk, Reading};
use crate::{BLOCK_BYTES, PageError};

/// Blocks of a read that may be partly unreadable.
pub(crate) struct ReadableBlocks {
    bytes: Bytes,
    /// Indices of unreadable blocks, whose bytes are zeros.
    unreadable: Vec<usize>,
}

enum Bytes {
    Read(Buffer),
    Collected(Vec<u8>),
}

impl ReadableBlocks {
    /// Each block, or `None` if unreadable.
    pub(crate) fn blocks(&self) -> impl Iterator<Item = Option<&[u8]>> {
        let blocks = self.bytes().chunks(BLOCK_BYTES).enumerate();
        blocks.map(|(index, block)| (!self.unreadable.contains(&index)).then_some(block))
    }

    /// All bytes, if every block is readable.
    pub(crate) fn whole(&self) -> Option<&[u8]> {
        self.unreadable.is_empty().then(|| self.bytes())
    }

    /// All bytes, with zeros for unreadable blocks.
    pub(crate) fn bytes(&self) -> &[u8] {
        match &self.bytes {
            Bytes::Read(buffer) => buffer,
            Bytes::Collected(bytes) => bytes,
        }
    }

    /// Returns true if all of these blocks are readable.
    pub(crate) fn is_readable(&self, blocks: Range<usize>) -> bool {
        !self.unreadable.iter().any(|block| blocks.contains(block))
    }
}

impl Disk {
    /// Reads whole blocks. After a media error it reads block by block, and only blocks that fail
    /// again are unreadable.
    pub(crate) async fn read_blocks(
        &self,
        action: &'static str,
        offset_bytes: u64,
        into: BufferMut,
    ) -> Result<ReadableBlocks, PageError> {
        let length_bytes = into.len();
        self.finish_blocks(action, offset_bytes, length_bytes, self.read(action, offset_bytes, into)).await
    }

    /// Second half of [`read_blocks`](Self::read_blocks), for a read in flight.
    pub(crate) async fn finish_blocks(
        &self,
        action: &'static str,
        offset_bytes: u64,
        length_bytes: usize,
        read: Reading,
    ) -> Result<ReadableBlocks, PageError> {
        match read.await {
            Ok(buffer) => Ok(ReadableBlocks { bytes: Bytes::Read(buffer), unreadable: Vec::new() }),
            Err(error) if error.is_unreadable() => {
                self.read_one_by_one(action, offset_bytes, length_bytes / BLOCK_BYTES).await
            }
            Err(error) => Err(error),
        }
    }

    async fn read_one_by_one(
        &self,
        action: &'static str,
        offset_bytes: u64,
        blocks: usize,
    ) -> Result<ReadableBlocks, PageError> {
        let arena = Arena::new(BLOCK_BYTES)?;
        let (mut bytes, mut unreadable) = (Vec::with_capacity(blocks * BLOCK_BYTES), Vec::new());
        for block in 0..blocks {
            let offset_bytes = offset_bytes + (block * BLOCK_BYTES) as u64;
            match self.read(action, offset_bytes, arena.allocate(BLOCK_BYTES)?).await {
                Ok(buffer) => bytes.extend_from_slice(&buffer),
                Err(error) if error.is_unreadable() => {
                    bytes.resize(bytes.len() + BLOCK_BYTES, 0);
                    unreadable.push(block);
                }
                Err(error) => return Err(error),
            }
        }
        debug_assert_eq!(bytes.len(), blocks * BLOCK_BYTES, "each block has its place");
        Ok(ReadableBlocks { bytes: Bytes::Collected(bytes), unreadable })
    }
}
