use super::{Area, Generator, below, generator};

/// Uniformly random blocks, drawn with replacement.
#[derive(Debug)]
pub struct Random {
    area: Area,
    generator: Generator,
}

impl Random {
    /// Random blocks of `area`.
    pub fn new(area: Area, seed: u64) -> Self {
        Self { area, generator: generator(seed, 1) }
    }
}

impl Iterator for Random {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        Some(self.area.offset_bytes(below(&mut self.generator, self.area.blocks)))
    }
}
