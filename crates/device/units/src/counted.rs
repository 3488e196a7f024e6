/// A whole number with its thousands apart: `1 234 567`.
pub fn thousands(number: f64) -> String {
    let digits = format!("{number:.0}");
    let first = digits.len() % 3;
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && index % 3 == first {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

/// A number of things: `1 write`, `12 000 writes`.
pub fn counted(number: u64, thing: &str) -> String {
    format!("{} {thing}{}", thousands(number as f64), if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_stand_apart() {
        assert_eq!([123.0, 1234.0, 1_234_567.0].map(thousands), ["123", "1 234", "1 234 567"]);
        assert_eq!(
            (counted(1, "write"), counted(12_000, "write")),
            ("1 write".into(), "12 000 writes".into())
        );
    }
}
