use super::Pricing;

impl Pricing {
    /// Returns the time in seconds to read an extent of `bytes` at a new place on a busy device.
    pub fn extent_seconds(&self, bytes: u64) -> f64 {
        // Memory doesn't limit the queue depth here.
        let prices = self.unbounded();
        let blocks = bytes.div_ceil(self.costs().logical_block_bytes);
        let long = || prices.long_extent_seconds() + prices.block_seconds() * blocks as f64;
        prices.extent_seconds(blocks).unwrap_or_else(long)
    }

    /// Returns the number of random fetches of `block_bytes` that take as long, on a busy device,
    /// as a sequential scan of `scan_bytes`. Above this number a scan is quicker.
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
        // 10 GB at 100 MB/s; 8 ms and 82 us for each block of 8 KiB.
        let fetches = pricing(disk()).break_even_fetches(8192, 10_000_000_000);
        assert!((fetches - 100.0 / 8.081_92e-3).abs() < 1.0, "{fetches}");
        // 5 s at 2 GB/s; 32 requests outstanding, 82 us each.
        let fetches = pricing(flash()).break_even_fetches(4096, 10_000_000_000);
        assert!((fetches - 5.0 * 32.0 / 82.048e-6).abs() < 100.0, "{fetches}");
        // 32 blocks of 8 KiB in 84 us would be 3.1 GB/s: bandwidth is the limit, so every block can
        // be fetched.
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
