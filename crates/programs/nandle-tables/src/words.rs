//! Figures as people read them.

use std::fmt::Write as _;
use std::ops::RangeBounds;

use comfy_table::{CellAlignment, Table, presets};
use nandle_units::wrapped;
pub(crate) use nandle_units::{counted, thousands};

/// Columns of a line.
const COLUMNS: usize = 80;

/// A table without lines.
pub(crate) fn table<const N: usize>(header: [&str; N]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(header);
    table
}

/// Puts the figures of some columns below one another.
pub(crate) fn to_the_right(table: &mut Table, columns: impl RangeBounds<usize>) {
    for (number, column) in table.column_iter_mut().enumerate() {
        if columns.contains(&number) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
}

/// A time to three digits.
pub(crate) fn seconds(seconds: f64) -> String {
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

/// Appends a paragraph broken at words, with `mark` before its first line.
pub(crate) fn paragraph(text: &mut String, mark: &str, words: &str) {
    for line in wrapped(words, mark, COLUMNS, str::to_owned) {
        let _ = writeln!(text, "{line}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_three_digits() {
        assert_eq!(seconds(47.482e-6), "47.5 us");
        assert_eq!(seconds(0.001_234_567), "1.23 ms");
        assert_eq!(seconds(123.4), "123 s");
    }
}
