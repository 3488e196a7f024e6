/// Seconds after which a page is better read again than kept in memory (Gray, Putzolu: *The 5 Minute Rule*, SIGMOD
/// 1987; in the form of Gray, Graefe, SIGMOD Record 1997): what a read a second costs, by what the memory of a page costs.
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

    /// Gray and Graefe's own numbers of 1997: a drive of 2000 dollars with 64 accesses a second, memory at 15 dollars a
    /// megabyte, pages of 8 KB: 266 seconds, "about five minutes".
    #[test]
    fn five_minutes_in_1997() {
        let seconds = break_even_seconds(2000.0, 64.0, 15.0 / 1_048_576.0, 8192);
        assert!((seconds - 266.0).abs() < 2.0, "{seconds}");
    }
}
