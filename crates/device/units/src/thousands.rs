/// Separates the thousands of a number: `1 234 567.8`. The sign, the digits after the point, and
/// numbers with fewer digits than `from_digits` are unchanged.
pub fn group_thousands(number: &str, separator: char, from_digits: usize) -> String {
    let start = number.find(|c: char| c.is_ascii_digit()).unwrap_or(number.len());
    let (sign, digits) = number.split_at(start);
    let (whole, rest) = digits.split_at(digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len()));
    if whole.len() < from_digits {
        return number.to_owned();
    }
    let mut text = sign.to_owned();
    for (position, digit) in whole.chars().enumerate() {
        if position > 0 && (whole.len() - position).is_multiple_of(3) {
            text.push(separator);
        }
        text.push(digit);
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::group_thousands;

    #[test]
    fn thousands_are_separated() {
        assert_eq!(group_thousands("1234567.89", ' ', 4), "1 234 567.89");
        assert_eq!(group_thousands("-123456", '_', 4), "-123_456");
        assert_eq!(group_thousands("1234", ' ', 5), "1234");
        assert_eq!(group_thousands("NaN", ' ', 0), "NaN");
        assert_eq!(group_thousands("", ' ', 4), "");
    }
}
