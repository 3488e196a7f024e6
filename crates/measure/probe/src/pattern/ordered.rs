use super::Area;

/// Blocks at a constant distance (uFLIP's order; StableBuffer §3.1: 1, 3, 5, 7 … or 111, 109 …).
#[derive(Debug)]
pub struct Ordered {
    area: Area,
    stride_blocks: i64,
    block: u64,
}

impl Ordered {
    /// Blocks of `area` at a distance of `stride_blocks`. A negative stride goes backwards from the
    /// last block; 0 stays at the first. At the end of the area the next pass starts one block
    /// further, so every block is visited in time.
    pub fn new(area: Area, stride_blocks: i64) -> Self {
        let block = if stride_blocks < 0 { area.blocks - 1 } else { 0 };
        Self { area, stride_blocks, block }
    }

    fn step(&self) -> u64 {
        let distance = self.stride_blocks.unsigned_abs();
        let blocks = self.area.blocks;
        let next = if self.stride_blocks < 0 {
            self.block.checked_sub(distance)
        } else {
            self.block.checked_add(distance).filter(|block| *block < blocks)
        };
        next.unwrap_or_else(|| self.other_end(distance.clamp(1, blocks)))
    }

    /// First block of the next pass, shifted by one block.
    fn other_end(&self, distance: u64) -> u64 {
        let blocks = self.area.blocks;
        if self.stride_blocks < 0 {
            let from_end = (blocks - 1 - self.block) % distance;
            blocks - 1 - (from_end + 1) % distance
        } else {
            (self.block % distance + 1) % distance
        }
    }
}

impl Iterator for Ordered {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        let block = self.block;
        if self.stride_blocks != 0 {
            self.block = self.step();
        }
        Some(self.area.offset_bytes(block))
    }
}
