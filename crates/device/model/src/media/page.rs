//! Contents of one block, by reference into the memory of a write.

use std::sync::Arc;

use nandle_io::Buffer;
use xxhash_rust::xxh3::xxh3_128;

use super::dice::Dice;

/// Limit of memory that blocks share. A block keeps its chunk alive even if the others are gone.
const CHUNK_BYTES: usize = 64 << 10;

/// Contents of one block; a clone is cheap.
#[derive(Clone)]
pub(super) struct Page {
    chunk: Arc<Chunk>,
    index: u32,
}

/// Adjacent blocks of one write, with a hash of each (XXH3, 128 bits).
struct Chunk {
    block_bytes: usize,
    bytes: Box<[u8]>,
    hashes: Box<[u128]>,
}

impl Page {
    /// Blocks of a write.
    pub(super) fn of_write(buffers: &[Buffer], block_bytes: usize) -> Vec<Self> {
        let chunk_bytes = (CHUNK_BYTES / block_bytes).max(1) * block_bytes;
        let mut left_bytes = buffers.iter().map(Buffer::len).sum::<usize>();
        let blocks = left_bytes / block_bytes;
        debug_assert!(
            left_bytes == blocks * block_bytes,
            "{left_bytes} bytes are no blocks of {block_bytes}"
        );
        let mut pages = Vec::with_capacity(blocks);
        let mut chunk = Vec::with_capacity(chunk_bytes.min(left_bytes));
        for buffer in buffers {
            let mut rest: &[u8] = buffer;
            while !rest.is_empty() {
                let (part, behind) = rest.split_at(rest.len().min(chunk_bytes - chunk.len()));
                chunk.extend_from_slice(part);
                rest = behind;
                left_bytes -= part.len();
                if chunk.len() == chunk_bytes || left_bytes == 0 {
                    let next = Vec::with_capacity(chunk_bytes.min(left_bytes));
                    pages.extend(Self::of_chunk(std::mem::replace(&mut chunk, next), block_bytes));
                }
            }
        }
        debug_assert!(pages.len() == blocks && chunk.is_empty(), "{} of {blocks} blocks", pages.len());
        pages
    }

    /// Block of random bytes.
    pub(super) fn garbage(dice: Dice, block_bytes: usize) -> Self {
        let words = (0_u64..).flat_map(|word| dice.of(word).roll().to_le_bytes());
        Self::single(words.take(block_bytes).collect())
    }

    /// Block that is `new` up to byte `at` and `old` from there on; `None` is zeros.
    pub(super) fn torn(new: Option<&Self>, old: Option<&Self>, at: usize, block_bytes: usize) -> Self {
        let zeros = vec![0; block_bytes];
        let bytes = |page: Option<&Self>| page.map_or_else(|| zeros.clone(), |page| page.bytes().to_vec());
        let mut torn = bytes(new);
        torn.truncate(at);
        torn.extend(bytes(old).into_iter().skip(at));
        debug_assert!(torn.len() == block_bytes, "{} bytes instead of {block_bytes}", torn.len());
        Self::single(torn)
    }

    /// Copy of the block with one bit flipped.
    pub(super) fn damaged(&self, dice: Dice) -> Self {
        let mut bytes = self.bytes().to_vec();
        flip_one_bit(&mut bytes, dice);
        Self::single(bytes)
    }

    pub(super) fn bytes(&self) -> &[u8] {
        let start = self.index as usize * self.chunk.block_bytes;
        let bytes = self.chunk.bytes.get(start..start + self.chunk.block_bytes);
        debug_assert!(bytes.is_some(), "block {} is in its chunk", self.index);
        bytes.unwrap_or_default()
    }

    /// Copies bytes from `skip` on.
    pub(super) fn copy_part(&self, skip: usize, into: &mut [u8]) {
        let part = self.bytes().get(skip..skip + into.len());
        debug_assert!(part.is_some(), "{} bytes from {skip} on are not in a block", into.len());
        if let Some(part) = part {
            into.copy_from_slice(part);
        }
    }

    pub(super) fn hash(&self) -> u128 {
        let hash = self.chunk.hashes.get(self.index as usize);
        debug_assert!(hash.is_some(), "block {} has a hash", self.index);
        hash.copied().unwrap_or_default()
    }

    fn single(bytes: Vec<u8>) -> Self {
        let hashes = [xxh3_128(&bytes)].into();
        Self { chunk: Arc::new(Chunk { block_bytes: bytes.len(), bytes: bytes.into(), hashes }), index: 0 }
    }

    fn of_chunk(bytes: Vec<u8>, block_bytes: usize) -> impl Iterator<Item = Self> + use<> {
        debug_assert!(bytes.len() <= CHUNK_BYTES.max(block_bytes), "{} bytes in a chunk", bytes.len());
        let hashes = bytes.chunks_exact(block_bytes).map(xxh3_128).collect();
        let chunk = Arc::new(Chunk { block_bytes, bytes: bytes.into(), hashes });
        #[expect(clippy::cast_possible_truncation, reason = "a chunk is short, and a block a byte at least")]
        let count = chunk.hashes.len() as u32;
        (0..count).map(move |index| Self { chunk: Arc::clone(&chunk), index })
    }
}

/// Flips one random bit.
pub(super) fn flip_one_bit(bytes: &mut [u8], dice: Dice) {
    let bit = dice.index(bytes.len() * 8);
    debug_assert!(bit / 8 < bytes.len(), "a block has a byte at least");
    if let Some(byte) = bytes.get_mut(bit / 8) {
        *byte ^= 1 << (bit % 8);
    }
}

impl std::fmt::Debug for Page {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Page({:032x})", self.hash())
    }
}
