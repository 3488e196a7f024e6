use super::Pricing;

impl Pricing {
    /// Seconds that a stretch of so many bytes takes which begins at a new place, while the device is kept busy.
    pub fn extent_seconds(&self, bytes: u64) -> f64 {
        // Memory is no question here: queues are as deep as keeps the device busy.
        let prices = self.unbounded();
        let blocks = bytes.div_ceil(self.costs().logical_block_bytes);
        let long = || prices.long_extent_seconds() + prices.block_seconds() * blocks as f64;
        prices.extent_seconds(blocks).unwrap_or_else(long)
    }

    /// How many blocks can be fetched from places of their own, the device kept busy, in the time that it takes to read `scan_bytes`
    /// from first to last: above that a scan is quicker.
    pub fn break_even_fetches(&self, block_bytes: u64, scan_bytes: u64) -> f64 {
        let blocks = scan_bytes as f64 / self.costs().logical_block_bytes as f64;
        blocks * self.unbounded().block_seconds() / self.extent_seconds(block_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{disk, flash};
    use super::*;
    use crate::ReadCosts;

    fn pricing(costs: ReadCosts) -> Pricing {
        Pricing::new(costs).unwrap()
    }

    #[test]
    fn a_disk_jumps_rarely_and_flash_often() {
        // 10 GB at 100 MB/s, and 8 ms and 82 us for each block of 8 KiB.
        let fetches = pricing(disk()).break_even_fetches(8192, 10_000_000_000);
        assert!((fetches - 100.0 / 8.081_92e-3).abs() < 1.0, "{fetches}");
        // 5 s at 2 GB/s; 32 outstanding, of which each takes 82 us.
        let fetches = pricing(flash()).break_even_fetches(4096, 10_000_000_000);
        assert!((fetches - 5.0 * 32.0 / 82.048e-6).abs() < 100.0, "{fetches}");
        // Of 8 KiB, 32 in 84 us would be 3.1 GB/s: the bandwidth is what limits, so every block can be fetched.
        let fetches = pricing(flash()).break_even_fetches(8192, 10_000_000_000);
        assert!((fetches - 10e9 / 8192.0).abs() < 1.0, "{fetches}");
    }

    #[test]
    fn long_extents_pay_for_one_jump() {
        let costs = pricing(disk());
        let seconds = |bytes| costs.extent_seconds(bytes);
        assert!((seconds(100_000_000) - 1.008).abs() < 1e-4, "{}", seconds(100_000_000));
        assert!((seconds(4096) - 8.040_96e-3).abs() < 1e-9);
    }
}
