/// How much faster a whole becomes when the share of its time that is spent in one part becomes `factor` times faster:
/// `1 / ((1 − share) + share / factor)` (Amdahl 1967).
pub fn speed_up(share: f64, factor: f64) -> f64 {
    let part = if share > 0.0 { share / factor } else { 0.0 };
    1.0 / ((1.0 - share) + part)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `FlashyDB`: a database that spends 60 % of its time in I/O; 10 times faster storage, 10 times faster processors.
    #[test]
    fn flashydbs_two_speed_ups() {
        let storage = speed_up(0.6, 10.0);
        let processors = speed_up(0.4, 10.0);
        assert_eq!((format!("{storage:.1}"), format!("{processors:.1}")), ("2.2".into(), "1.6".into()));
        // The slides say 1.5: 1 / (0.6 + 0.4 / 10) is 1.5625, which they cut off.
        assert!((processors * 10.0).floor() / 10.0 - 1.5 < 1e-9, "{processors}");
        assert!((speed_up(0.0, 10.0) - 1.0).abs() < 1e-12);
        assert!((speed_up(0.0, 0.0) - 1.0).abs() < 1e-12, "what takes no time may be as slow as it likes");
        assert!((speed_up(1.0, 10.0) - 10.0).abs() < 1e-12);
    }
}
