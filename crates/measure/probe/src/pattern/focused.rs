use super::{Area, Random, below, generator};

/// Random blocks within a small part of the area (uFLIP's locality; StableBuffer §3.1).
#[derive(Debug)]
pub struct Focused {
    random: Random,
}

impl Focused {
    /// Random blocks within `focus_bytes` of `area`. The part has at least one block and at most
    /// the whole area.
    pub fn new(area: Area, focus_bytes: u64, seed: u64) -> Self {
        let blocks = (focus_bytes / area.block_bytes).clamp(1, area.blocks);
        // The part begins at a multiple of its size, as a drive's mapping units do.
        let places = (area.blocks / blocks).max(1);
        let first = below(&mut generator(seed, 4), places) * blocks;
        let focus = Area { start_bytes: area.offset_bytes(first), blocks, block_bytes: area.block_bytes };
        Self { random: Random::new(focus, seed) }
    }
}

impl Iterator for Focused {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        self.random.next()
    }
}
