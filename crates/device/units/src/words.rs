/// Units that stand apart from their figure, and yet on its line.
const UNITS: [&str; 7] = ["%", "ns", "us", "ms", "s", "MB/s", "times"];

/// The words of a text that is to be broken into lines; a figure is one of them with its unit, and with all its groups of
/// thousands: `1 234 567`, `479 us`.
pub fn words_and_figures(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match words.last_mut().filter(|figure| goes_on(figure, word)) {
            Some(figure) => figure.extend([" ", word]),
            None => words.push(word.to_owned()),
        }
    }
    words
}

fn goes_on(figure: &str, word: &str) -> bool {
    // What may stand behind it without a space: the end of a clause, and the other bound of an interval.
    let begun = word.split([',', ';', '.', ')', '–']).next().unwrap_or_default();
    let is_unit = UNITS.contains(&begun);
    let is_thousands = begun.len() == 3 && begun.bytes().all(|digit| digit.is_ascii_digit());
    let ends_in_digit = figure.ends_with(|end: char| end.is_ascii_digit());
    (is_unit && (ends_in_digit || figure.ends_with(')'))) || (is_thousands && ends_in_digit)
}

#[cfg(test)]
mod tests {
    use super::words_and_figures;

    #[test]
    fn figures_keep_together() {
        assert_eq!(words_and_figures("in 98.0 us (91.6 us–2.12 ms)"), ["in", "98.0 us", "(91.6 us–2.12 ms)"]);
        assert_eq!(
            words_and_figures("gives 2 433 MB/s (2 240–2 584), 8 of 12 times"),
            ["gives", "2 433 MB/s", "(2 240–2 584),", "8", "of", "12 times"]
        );
        assert_eq!(words_and_figures("  a  b "), ["a", "b"]);
        assert!(words_and_figures("").is_empty());
    }
}
