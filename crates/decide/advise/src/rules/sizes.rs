use crate::figures::words::whole;

/// Rounds a size up to a power of two within `least` and `most`, which are powers of two.
pub(crate) fn power_of_two_within(bytes: f64, least: u64, most: u64) -> u64 {
    whole(bytes.max(1.0)).next_power_of_two().clamp(least, most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_become_powers_of_two_within_bounds() {
        assert_eq!(power_of_two_within(4096.0, 512, 65_536), 4096);
        assert_eq!(power_of_two_within(5000.0, 512, 65_536), 8192);
        assert_eq!(power_of_two_within(100.0, 512, 65_536), 512);
        assert_eq!(power_of_two_within(1e9, 512, 65_536), 65_536);
        assert_eq!(power_of_two_within(0.0, 1, 2), 1);
    }
}
