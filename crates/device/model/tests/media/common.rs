//! Device of small blocks, each filled with one repeated number.

use nandle_io::{Arena, Buffer, Cause, Durability, Operation};
use nandle_model::media::{Contents, Media, OperationId, Outcome};

/// Small, so that a history of many writes stays cheap.
pub(crate) const BLOCK_BYTES: usize = 64;

/// Media, and memory for its operations.
pub(crate) struct Rig {
    pub(crate) media: Media,
    arena: Arena,
}

impl Rig {
    pub(crate) fn new(media: Media) -> Self {
        Self { media, arena: Arena::new(16 << 20).unwrap() }
    }

    pub(crate) fn of_blocks(blocks: u64) -> Self {
        Self::new(Media::new(blocks * BLOCK_BYTES as u64, 64))
    }

    /// Write with one number per block.
    pub(crate) fn write(&self, block: u64, numbers: &[u64], durability: Durability) -> Operation {
        let from = [self.filled(numbers)].into_iter().collect();
        Operation::Write { offset_bytes: block * BLOCK_BYTES as u64, from, durability }
    }

    pub(crate) fn filled(&self, numbers: &[u64]) -> Buffer {
        let mut buffer = self.arena.allocate(numbers.len() * BLOCK_BYTES).unwrap();
        for (block, number) in buffer.chunks_mut(BLOCK_BYTES).zip(numbers) {
            block.chunks_mut(8).for_each(|word| word.copy_from_slice(&number.to_le_bytes()));
        }
        buffer.freeze()
    }

    pub(crate) fn begin(&mut self, operation: &Operation) -> OperationId {
        self.media.begin(operation).unwrap()
    }

    /// Begins an operation and completes it.
    pub(crate) fn run(&mut self, mut operation: Operation) -> Outcome {
        let id = self.begin(&operation);
        self.media.complete(id, &mut operation)
    }

    pub(crate) fn put(&mut self, block: u64, number: u64) -> Result<(), Cause> {
        let operation = self.write(block, &[number], Durability::Volatile);
        self.run(operation).result
    }

    pub(crate) fn flush(&mut self) -> Result<(), Cause> {
        self.run(Operation::Flush).result
    }

    pub(crate) fn discard(&mut self, block: u64, blocks: u64) -> Result<(), Cause> {
        let bytes = BLOCK_BYTES as u64;
        self.run(Operation::Discard { offset_bytes: block * bytes, length_bytes: blocks * bytes }).result
    }

    /// Reads a block through the device, including faults.
    pub(crate) fn get(&mut self, block: u64) -> Result<Held, Cause> {
        let buffer = self.arena.allocate(BLOCK_BYTES).unwrap();
        let mut operation = Operation::read(block * BLOCK_BYTES as u64, buffer);
        let id = self.begin(&operation);
        self.media.complete(id, &mut operation).result?;
        Ok(Held::of(&operation.into_read_buffer().unwrap()))
    }

    pub(crate) fn held(&self, block: u64) -> Held {
        held(self.media.contents(), block)
    }
}

/// Contents of a block.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Held {
    /// One repeated number.
    Number(u64),
    /// Anything else.
    Other(Vec<u8>),
}

impl Held {
    fn of(bytes: &[u8]) -> Self {
        let first = u64::from_le_bytes(bytes[..8].try_into().unwrap());
        let whole = bytes.chunks(8).all(|word| word == first.to_le_bytes());
        if whole { Self::Number(first) } else { Self::Other(bytes.to_vec()) }
    }
}

pub(crate) fn held(contents: &Contents, block: u64) -> Held {
    let mut bytes = [0; BLOCK_BYTES];
    contents.read_into(block * BLOCK_BYTES as u64, &mut bytes).unwrap();
    Held::of(&bytes)
}
