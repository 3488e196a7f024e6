use crate::group_thousands;

/// Formats a number without decimals and with separated thousands: `1 234 567`.
pub fn thousands(number: f64) -> String {
    group_thousands(&format!("{number:.0}"), ' ', 4)
}

/// Formats a number of things: `1 write`, `12 000 writes`.
pub fn counted(number: u64, thing: &str) -> String {
    format!("{} {thing}{}", thousands(number as f64), if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_separated() {
        assert_eq!([123.0, 1234.0, 1_234_567.0].map(thousands), ["123", "1 234", "1 234 567"]);
        assert_eq!(thousands(-123_456.0), "-123 456");
        assert_eq!(
            (counted(1, "write"), counted(12_000, "write")),
            ("1 write".into(), "12 000 writes".into())
        );
    }
}
