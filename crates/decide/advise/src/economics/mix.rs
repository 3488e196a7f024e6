/// Requests per second in a mix of reads and writes. The times of both add up:
/// `1 / (r / reads + (1 − r) / writes)`.
pub fn mixed_iops(read_share: f64, read_iops: f64, write_iops: f64) -> f64 {
    1.0 / (read_share / read_iops + (1.0 - read_share) / write_iops)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slower_side_weighs_more() {
        assert!((mixed_iops(1.0, 350.0, 300.0) - 350.0).abs() < 1e-9);
        assert!((mixed_iops(0.0, 350.0, 300.0) - 300.0).abs() < 1e-9);
        assert!((mixed_iops(0.5, 1000.0, 10.0) - 19.8).abs() < 0.01);
    }
}
