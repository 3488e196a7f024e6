use super::{Area, Generator, below, generator};

/// Pattern of DIAT (§1.1): `group_blocks` consecutive blocks at a random position, then the next
/// group.
#[derive(Debug)]
pub struct Grouped {
    area: Area,
    group_blocks: u64,
    generator: Generator,
    next_block: u64,
    left_in_group: u64,
}

impl Grouped {
    /// Groups of `group_blocks`, at most the area's size. A group starts at any block from which it
    /// fits.
    pub fn new(area: Area, group_blocks: u64, seed: u64) -> Self {
        let group_blocks = group_blocks.clamp(1, area.blocks);
        Self { area, group_blocks, generator: generator(seed, 3), next_block: 0, left_in_group: 0 }
    }
}

impl Iterator for Grouped {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        if self.left_in_group == 0 {
            self.left_in_group = self.group_blocks;
            self.next_block = below(&mut self.generator, self.area.blocks - self.group_blocks + 1);
        }
        let block = self.next_block;
        self.next_block += 1;
        self.left_in_group -= 1;
        Some(self.area.offset_bytes(block))
    }
}
