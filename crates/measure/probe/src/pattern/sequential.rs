use super::{Area, below, generator};

/// Consecutive blocks, wrapping around at the end of the area.
#[derive(Debug)]
pub struct Sequential {
    area: Area,
    next_block: u64,
}

impl Sequential {
    /// Consecutive blocks of `area` from a random start.
    pub fn new(area: Area, seed: u64) -> Self {
        Self { area, next_block: below(&mut generator(seed, 2), area.blocks) }
    }

    /// Consecutive blocks of `area` from its first block.
    pub fn from_start(area: Area) -> Self {
        Self { area, next_block: 0 }
    }
}

impl Iterator for Sequential {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        let block = self.next_block;
        self.next_block = (block + 1) % self.area.blocks;
        Some(self.area.offset_bytes(block))
    }
}
