use crate::Derived;

/// "Near full" is within 10 % of the best bandwidth seen for the device (DIAT, C1): the one definition of it.
pub const NEAR_FULL_SHARE: f64 = 0.9;

/// Whether a bandwidth is near the best one.
pub fn is_near_full(bandwidth_bytes_per_s: f64, best_bytes_per_s: f64) -> bool {
    bandwidth_bytes_per_s >= NEAR_FULL_SHARE * best_bytes_per_s
}

impl Derived {
    /// The least depth at which random reads of the efficient block, or of a smaller one, are near full bandwidth; with it,
    /// the block. `None` where nothing of that was concluded.
    pub fn near_full_depth(&self) -> Option<(u64, u32)> {
        let block_bytes = self.efficient_block_bytes?.value;
        let near = self.efficient_block_by_depth.iter().filter(|at| at.block_bytes.value <= block_bytes);
        near.map(|at| at.queue_depth).min().map(|depth| (block_bytes, depth))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BlockAtDepth, Interval};

    #[test]
    fn near_full_is_within_a_tenth_of_the_best() {
        assert!(is_near_full(90.0, 100.0) && !is_near_full(89.9, 100.0));
    }

    /// The block's own plateau may be reached before it is near the best of all blocks.
    #[test]
    fn the_depth_is_that_at_which_the_efficient_block_is_near_full() {
        let at = |queue_depth, block_bytes| BlockAtDepth {
            queue_depth,
            block_bytes: Interval::exact(block_bytes),
        };
        let derived = Derived {
            efficient_block_bytes: Some(Interval::exact(512 << 10)),
            efficient_block_by_depth: vec![at(64, 1 << 20), at(128, 1 << 20), at(256, 512 << 10)],
            ..Derived::default()
        };
        assert_eq!(derived.near_full_depth(), Some((512 << 10, 256)));
        assert_eq!(Derived::default().near_full_depth(), None);
    }
}
