/// What a page costs at random by what it costs in sequence, in time: the one ratio that both the break-even of an index
/// and a planner's cost of a random page follow from.
pub fn page_cost_ratio(page_bytes: u64, random_iops: f64, sequential_bytes_per_s: f64) -> f64 {
    sequential_bytes_per_s / (random_iops * page_bytes as f64)
}

/// Share of a table's pages up to which fetching each by an index is faster than reading all of them in sequence, when
/// nothing is cached.
pub fn index_share(page_cost_ratio: f64) -> f64 {
    (1.0 / page_cost_ratio).min(1.0)
}

/// Rows of a table up to which fetching each by an index, with a random read, is faster than a scan (Graefe: *The Five-Minute
/// Rule 20 Years Later*, `DaMoN` 2007): the random reads that fit into the time of a scan.
pub fn index_rows(table_bytes: f64, page_bytes: u64, page_cost_ratio: f64) -> f64 {
    table_bytes / page_bytes as f64 / page_cost_ratio
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The order of magnitude that Graefe gives for 100 million rows: 10 000 on a disk. 100 bytes a row, 100 MB/s, 100
    /// random reads a second.
    #[test]
    fn a_disks_break_even_lies_at_ten_thousand_of_a_hundred_million() {
        for page_bytes in [4096, 8192] {
            let ratio = page_cost_ratio(page_bytes, 100.0, 100e6);
            let rows = index_rows(100e6 * 100.0, page_bytes, ratio);
            assert!((rows - 10_000.0).abs() < 1e-6, "{rows}");
        }
    }

    #[test]
    fn where_random_is_as_fast_as_sequential_an_index_always_wins() {
        assert!((index_share(page_cost_ratio(8192, 1e6, 1e9)) - 1.0).abs() < 1e-12);
        let disk = page_cost_ratio(8192, 120.0, 120e6);
        assert!((disk - 122.070).abs() < 1e-3, "{disk}");
        assert!((index_share(disk) - 0.008_192).abs() < 1e-9);
    }
}
