/// Time between accesses above which rereading a page is cheaper than caching it: the price of a
/// read per second divided by the price of a page of memory (Gray, Putzolu: *The 5 Minute Rule*,
/// SIGMOD 1987; in the form of Gray, Graefe, SIGMOD Record 1997).
///
/// `drive_price / drive_iops / (memory_price_per_byte · page_bytes)`
pub fn break_even_seconds(
    drive_price: f64,
    drive_iops: f64,
    memory_price_per_byte: f64,
    page_bytes: u64,
) -> f64 {
    drive_price / drive_iops / (memory_price_per_byte * page_bytes as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gray and Graefe's figures of 1997: a drive for 2000 dollars with 64 accesses a second,
    /// memory at 15 dollars a megabyte, pages of 8 KB. The result is 266 seconds, "about five
    /// minutes".
    #[test]
    fn break_even_of_1997_is_about_five_minutes() {
        let seconds = break_even_seconds(2000.0, 64.0, 15.0 / 1_048_576.0, 8192);
        assert!((seconds - 266.0).abs() < 2.0, "{seconds}");
    }
}
