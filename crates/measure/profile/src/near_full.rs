use crate::Derived;

/// Share of the device's best bandwidth from which a bandwidth is "near full" (DIAT, C1).
pub const NEAR_FULL_SHARE: f64 = 0.9;

/// Returns true if a bandwidth is near the best one.
pub fn is_near_full(bandwidth_bytes_per_s: f64, best_bytes_per_s: f64) -> bool {
    bandwidth_bytes_per_s >= NEAR_FULL_SHARE * best_bytes_per_s
}

impl Derived {
    /// Smallest depth at which random reads of the efficient block, or of a smaller one, are near
    /// full bandwidth, with the efficient block's size. `None` if it couldn't be derived.
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

    /// A block may reach its own plateau before it is near the best of all blocks.
    #[test]
    fn near_full_depth_is_that_of_the_efficient_block() {
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
