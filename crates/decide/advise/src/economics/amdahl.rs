/// Speed-up of the whole if a `share` of its time becomes `factor` times faster:
/// `1 / ((1 − share) + share / factor)` (Amdahl 1967).
pub fn speed_up(share: f64, factor: f64) -> f64 {
    let part = if share > 0.0 { share / factor } else { 0.0 };
    1.0 / ((1.0 - share) + part)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `FlashyDB`: 60 % of the time is I/O; storage or processors become 10 times faster.
    #[test]
    fn flashydb_example_has_its_two_speed_ups() {
        let storage = speed_up(0.6, 10.0);
        let processors = speed_up(0.4, 10.0);
        assert_eq!((format!("{storage:.1}"), format!("{processors:.1}")), ("2.2".into(), "1.6".into()));
        // The slides truncate 1 / (0.6 + 0.4 / 10) = 1.5625 to 1.5.
        assert!((processors * 10.0).floor() / 10.0 - 1.5 < 1e-9, "{processors}");
        assert!((speed_up(0.0, 10.0) - 1.0).abs() < 1e-12);
        assert!((speed_up(0.0, 0.0) - 1.0).abs() < 1e-12, "a part that takes no time doesn't count");
        assert!((speed_up(1.0, 10.0) - 10.0).abs() < 1e-12);
    }
}
