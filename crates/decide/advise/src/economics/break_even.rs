/// Time of a random page divided by that of a sequential page. The break-even of an index and a
/// planner's cost of a random page follow from it.
pub fn page_cost_ratio(page_bytes: u64, random_iops: f64, sequential_bytes_per_s: f64) -> f64 {
    sequential_bytes_per_s / (random_iops * page_bytes as f64)
}

/// Largest share of a table's pages for which index lookups beat a table scan with a cold cache.
pub fn index_share(page_cost_ratio: f64) -> f64 {
    (1.0 / page_cost_ratio).min(1.0)
}

/// Largest number of rows for which index lookups, one random read each, beat a table scan: the
/// random reads that fit into the time of the scan (Graefe: *The Five-Minute Rule 20 Years Later*,
/// `DaMoN` 2007).
pub fn index_rows(table_bytes: f64, page_bytes: u64, page_cost_ratio: f64) -> f64 {
    table_bytes / page_bytes as f64 / page_cost_ratio
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Graefe's order of magnitude for 100 million rows on a disk is 10 000. Rows of 100 bytes, 100
    /// MB/s, 100 random reads a second.
    #[test]
    fn break_even_on_a_disk_is_ten_thousand_of_a_hundred_million_rows() {
        for page_bytes in [4096, 8192] {
            let ratio = page_cost_ratio(page_bytes, 100.0, 100e6);
            let rows = index_rows(100e6 * 100.0, page_bytes, ratio);
            assert!((rows - 10_000.0).abs() < 1e-6, "{rows}");
        }
    }

    #[test]
    fn index_always_wins_if_random_reads_are_as_fast_as_sequential() {
        assert!((index_share(page_cost_ratio(8192, 1e6, 1e9)) - 1.0).abs() < 1e-12);
        let disk = page_cost_ratio(8192, 120.0, 120e6);
        assert!((disk - 122.070).abs() < 1e-3, "{disk}");
        assert!((index_share(disk) - 0.008_192).abs() < 1e-9);
    }
}
