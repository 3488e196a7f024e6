/// Share of random page reads that hit a cache, as PostgreSQL's documentation assumes for
/// `random_page_cost`. Its default of 4 comes from a ratio of 40 and 90 % cached.
pub(crate) const CACHED_SHARE: f64 = 0.9;

/// The planner's cost of a random page divided by a sequential one: the device's ratio for cache
/// misses, at least 1.
pub(crate) fn page_cost(device_ratio: f64, cached_share: f64) -> f64 {
    (device_ratio * (1.0 - cached_share)).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documentations_example_gives_its_default() {
        assert!((page_cost(40.0, CACHED_SHARE) - 4.0).abs() < 1e-9);
        assert!((page_cost(3.0, CACHED_SHARE) - 1.0).abs() < 1e-9);
        assert!((page_cost(30.0, 0.0) - 30.0).abs() < 1e-9);
    }
}
