/// Share of random page reads that find the page in a cache: what PostgreSQL's documentation assumes for
/// `random_page_cost` (its default of 4 is a fortieth random, ninety per cent cached).
pub(crate) const CACHED_SHARE: f64 = 0.9;

/// The planner's cost of a random page by a sequential one: the device's ratio for the share that isn't cached, and no
/// less than that of a sequential page.
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
