//! Figures as people read them.

use std::fmt::Write as _;
use std::ops::RangeBounds;

use comfy_table::{CellAlignment, Table, presets};
use nandle_io::Nanos;
use nandle_units::wrapped;
pub use nandle_units::{counted, thousands};

/// Columns of a line.
const COLUMNS: usize = 80;

/// A table without lines.
pub fn table<const N: usize>(header: [&str; N]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(header);
    table
}

/// Puts the figures of some columns below one another.
pub fn to_the_right(table: &mut Table, columns: impl RangeBounds<usize>) {
    for (number, column) in table.column_iter_mut().enumerate() {
        if columns.contains(&number) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
}

/// Bytes per second as MB/s; of little, so many digits that it isn't nothing.
pub fn bandwidth(bytes_per_s: f64) -> String {
    let megabytes = bytes_per_s / 1e6;
    match megabytes {
        0.0005..1.0 => format!("{megabytes:.3}"),
        ..100.0 => format!("{megabytes:.1}"),
        _ => thousands(megabytes),
    }
}

/// A latency to three digits; a dash where none is known.
pub fn latency(time: Option<Nanos>) -> String {
    match time {
        None => "–".into(),
        Some(Nanos(nanos @ 0..1_000)) => format!("{nanos} ns"),
        Some(Nanos(nanos)) => seconds(nanos as f64 / 1e9),
    }
}

/// A time to three digits.
pub fn seconds(seconds: f64) -> String {
    // A sum of nothing is -0.
    let seconds = seconds + 0.0;
    let (value, unit) = match seconds {
        ..1e-6 => (seconds * 1e9, "ns"),
        1e-6..1e-3 => (seconds * 1e6, "us"),
        1e-3..1.0 => (seconds * 1e3, "ms"),
        _ => (seconds, "s"),
    };
    if value < 10.0 {
        format!("{value:.2} {unit}")
    } else if value < 100.0 {
        format!("{value:.1} {unit}")
    } else {
        format!("{value:.0} {unit}")
    }
}

/// A word as a shell takes it.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:,=+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.into()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// Appends a paragraph broken at words, with `mark` before its first line.
pub fn paragraph(text: &mut String, mark: &str, words: &str) {
    for line in wrapped(words, mark, COLUMNS, str::to_owned) {
        let _ = writeln!(text, "{line}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_stays_with_its_figure() {
        let mut text = String::new();
        paragraph(&mut text, "", &format!("{} 479 us, and -10 %.", "x".repeat(74)));
        assert_eq!(text.lines().collect::<Vec<_>>(), ["x".repeat(74).as_str(), "479 us, and -10 %."]);
    }

    #[test]
    fn a_shell_takes_a_word_for_one() {
        assert_eq!(
            [quoted("a/b.csv"), quoted("my disk"), quoted("it's"), quoted("")],
            ["a/b.csv", "'my disk'", r"'it'\''s'", "''"]
        );
    }

    #[test]
    fn figures_are_short() {
        assert_eq!(bandwidth(52_345_678.0), "52.3");
        assert_eq!(bandwidth(14_600.0), "0.015", "a memory card's random writes");
        assert_eq!(bandwidth(0.0), "0.0");
        assert_eq!(bandwidth(3_052_345_678.0), "3 052");
        assert_eq!(latency(Some(Nanos(47_482))), "47.5 us");
        assert_eq!(latency(Some(Nanos(1_234_567))), "1.23 ms");
        assert_eq!(latency(Some(Nanos(999))), "999 ns");
        assert_eq!(latency(None), "–");
        assert_eq!(seconds(47.482e-6), "47.5 us");
        assert_eq!(seconds(123.4), "123 s");
    }
}
