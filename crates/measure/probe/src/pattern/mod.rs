//! Address patterns: endless iterators of byte offsets, one file each.

mod focused;
mod grouped;
mod ordered;
mod partitioned;
mod random;
mod sequential;
mod spec;
mod zipf;

#[cfg(test)]
mod tests;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

pub use focused::Focused;
pub use grouped::Grouped;
pub use ordered::Ordered;
pub use partitioned::Partitioned;
pub use random::Random;
pub use sequential::Sequential;
pub use spec::{PatternError, PatternSpec};
pub use zipf::Zipf;

/// Endless series of byte offsets, each the start of a block in the [`Area`].
pub type Pattern = Box<dyn Iterator<Item = u64> + Send>;

/// Part of a device that a pattern addresses, in blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Area {
    /// Start of the area on the device.
    pub start_bytes: u64,
    /// Blocks in it, at least 1.
    pub blocks: u64,
    /// Bytes of a block.
    pub block_bytes: u64,
}

impl Area {
    /// Area of the whole blocks in `area_bytes` from `start_bytes` on; `None` if there are none.
    pub fn new(start_bytes: u64, area_bytes: u64, block_bytes: u64) -> Option<Self> {
        let blocks = area_bytes.checked_div(block_bytes)?;
        (blocks > 0).then_some(Self { start_bytes, blocks, block_bytes })
    }

    /// Byte offset of a block on the device.
    pub fn offset_bytes(&self, block: u64) -> u64 {
        self.start_bytes + block * self.block_bytes
    }
}

/// Random number generator of the patterns: fast, and reproducible on every machine.
pub(crate) type Generator = Xoshiro256PlusPlus;

/// Creates a generator from a seed and a stream number. Streams of one seed are independent.
pub(crate) fn generator(seed: u64, stream: u64) -> Generator {
    Generator::seed_from_u64(seed ^ stream.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

/// Random number below `limit`, as the upper half of a product. The bias is below 2⁻³² for any area
/// of a device.
pub(crate) fn below(generator: &mut Generator, limit: u64) -> u64 {
    let product = u128::from(generator.next_u64()) * u128::from(limit);
    u64::try_from(product >> 64).unwrap_or(0)
}
