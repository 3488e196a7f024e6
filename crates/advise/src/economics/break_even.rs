/// Share of a table's pages up to which fetching each by an index is faster than reading all of them in sequence: a scan
/// takes `1 / sequential` for a byte, a fetch `1 / iops` for a page.
pub fn index_share(page_bytes: u64, random_iops: f64, sequential_bytes_per_s: f64) -> f64 {
    (random_iops * page_bytes as f64 / sequential_bytes_per_s).min(1.0)
}

/// Rows of a table up to which fetching each by an index, with a random read, is faster than a scan (Graefe: *The Five-Minute
/// Rule 20 Years Later*, `DaMoN` 2007): the random reads that fit into the time of a scan.
pub fn index_rows(table_bytes: f64, random_iops: f64, sequential_bytes_per_s: f64) -> f64 {
    table_bytes / sequential_bytes_per_s * random_iops
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The order of magnitude that Graefe gives for 100 million rows: 10 000 on a disk. 100 bytes a row, 100 MB/s, 100
    /// random reads a second.
    #[test]
    fn a_disks_break_even_lies_at_ten_thousand_of_a_hundred_million() {
        let rows = index_rows(100e6 * 100.0, 100.0, 100e6);
        assert!((rows - 10_000.0).abs() < 1e-6, "{rows}");
    }

    #[test]
    fn where_random_is_as_fast_as_sequential_an_index_always_wins() {
        assert!((index_share(8192, 1e6, 1e9) - 1.0).abs() < 1e-12);
        let disk = index_share(8192, 120.0, 120e6);
        assert!((disk - 0.008_192).abs() < 1e-9, "{disk}");
    }
}
