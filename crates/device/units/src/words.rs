/// Units that are separated from their figure by a space but stay on its line.
const UNITS: [&str; 7] = ["%", "ns", "us", "ms", "s", "MB/s", "times"];

use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm};

/// Keeps a figure and its unit together when lines are broken.
const NO_BREAK: &str = "\u{a0}";

/// Breaks a paragraph at words into lines of `columns` columns. `mark` precedes the first line, and
/// as much space the others. `shown` renders each word.
pub fn wrapped(text: &str, mark: &str, columns: usize, shown: impl Fn(&str) -> String) -> Vec<String> {
    let words: Vec<String> =
        words_and_figures(text).iter().map(|word| shown(word).replace(' ', NO_BREAK)).collect();
    let indent = " ".repeat(mark.chars().count());
    let options = Options::new(columns)
        .initial_indent(mark)
        .subsequent_indent(&indent)
        .break_words(false)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation)
        .wrap_algorithm(WrapAlgorithm::FirstFit);
    let text = words.join(" ");
    let lines = textwrap::wrap(&text, options);
    lines.iter().map(|line| line.replace(NO_BREAK, " ")).collect()
}

/// Splits a text into words for line breaking. A figure with its unit and its groups of thousands
/// is one word: `1 234 567`, `479 us`.
fn words_and_figures(text: &str) -> Vec<String> {
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
    // A unit may be followed by the end of a clause, or by the other bound of an interval.
    let begun = word.split([',', ';', '.', ')', '–']).next().unwrap_or_default();
    let is_unit = UNITS.contains(&begun);
    let is_thousands = begun.len() == 3 && begun.bytes().all(|digit| digit.is_ascii_digit());
    let ends_in_digit = figure.ends_with(|end: char| end.is_ascii_digit());
    (is_unit && (ends_in_digit || figure.ends_with(')'))) || (is_thousands && ends_in_digit)
}

#[cfg(test)]
mod tests {
    use super::{words_and_figures, wrapped};

    #[test]
    fn lines_keep_to_their_columns_and_figures_to_their_units() {
        let lines = |text: &str, columns| wrapped(text, "! ", columns, str::to_owned);
        assert_eq!(lines("it takes 479 us, or more", 12), ["! it takes", "  479 us, or", "  more"]);
        assert_eq!(
            lines("a word-with-hyphens-beyond-all-columns b", 10),
            ["! a", "  word-with-hyphens-beyond-all-columns", "  b"]
        );
        assert_eq!(wrapped("ab", "", 80, str::to_uppercase), ["AB"]);
        assert_eq!(lines("", 80), [""]);
    }

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
