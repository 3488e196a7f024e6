//! Address patterns of the DIAT tool and of uFLIP.

/// Pattern of request addresses.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Pattern {
    /// One block after the other from the start of the area, repeatedly.
    Sequential,
    /// Jumps to a random place, reads `group` blocks in sequence, jumps again (DIAT).
    RandomGroups { group: u64 },
    /// Nine of ten requests to random places in the first tenth, the others to random places in the
    /// rest.
    Skewed,
    /// Zipf's distribution: the frequency of the block of rank *k* is proportional to k^−0.8,
    /// computed with an integral instead of a sum; ranks are scattered over the area.
    Zipf,
    /// `partitions` interleaved sequential streams, each in its own part of the area (uFLIP).
    Partitioned { partitions: u64 },
    /// A constant stride in blocks; 0 repeats one block, a negative stride goes backwards (uFLIP).
    Ordered { stride: i64 },
}

/// Offsets of a pattern.
#[derive(Debug, Clone)]
pub(crate) struct Offsets {
    pattern: Pattern,
    block_bytes: u64,
    blocks: u64,
    position: u64,
    group_start: u64,
    seed: u64,
}

impl Offsets {
    /// Blocks of `block_bytes` in the first `area_bytes` bytes.
    pub(crate) fn new(pattern: Pattern, block_bytes: u64, area_bytes: u64, seed: u64) -> Self {
        let blocks = area_bytes / block_bytes;
        Self { pattern, block_bytes, blocks, position: 0, group_start: 0, seed }
    }

    fn block(&mut self) -> u64 {
        let position = self.position;
        self.position += 1;
        match self.pattern {
            Pattern::Sequential => position % self.blocks,
            Pattern::RandomGroups { group } => {
                if position.is_multiple_of(group) {
                    self.group_start = self.random() % (self.blocks - group + 1);
                }
                self.group_start + position % group
            }
            Pattern::Skewed => {
                let hot = self.blocks / 10;
                if self.random().is_multiple_of(10) {
                    return hot + self.random() % (self.blocks - hot);
                }
                self.random() % hot
            }
            Pattern::Zipf => {
                // Inverse of the distribution function: rank ∝ u^(1 / (1 − 0.8)). A large prime
                // scatters the ranks.
                let uniform = (self.random() >> 11) as f64 / (1_u64 << 53) as f64;
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "below the blocks"
                )]
                let rank = (uniform.powi(5) * self.blocks as f64) as u64;
                rank * 2_654_435_761 % self.blocks
            }
            Pattern::Partitioned { partitions } => {
                let length = self.blocks / partitions;
                position % partitions * length + position / partitions % length
            }
            Pattern::Ordered { stride } => (i64::try_from(position).unwrap() * stride)
                .rem_euclid(i64::try_from(self.blocks).unwrap())
                .unsigned_abs(),
        }
    }

    fn random(&mut self) -> u64 {
        self.seed = self.seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut value = self.seed;
        value = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        value = (value ^ (value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        value ^ (value >> 31)
    }
}

impl Iterator for Offsets {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        Some(self.block() * self.block_bytes)
    }
}
