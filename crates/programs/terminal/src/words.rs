//! Formatting of figures, tables and paragraphs.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::ops::RangeBounds;

use comfy_table::{CellAlignment, Row, Table, presets};
use nandle_advise::verdict::{DIGITS_MAX, TimeUnit};
use nandle_io::Nanos;
use nandle_units::wrapped;
pub use nandle_units::{counted, quoted, thousands};

/// Widest line of prose, for readability.
const COLUMNS_MAX: usize = 80;
/// Narrowest paragraph, regardless of the terminal.
const COLUMNS_MIN: usize = 30;

/// Width of a line: the value of `COLUMNS`, else the terminal's width, at most 80. 80 if the output
/// isn't a terminal.
pub fn columns() -> usize {
    let stated = std::env::var("COLUMNS").ok();
    columns_of(stated.as_deref(), terminal_columns())
}

fn columns_of(stated: Option<&str>, terminal: Option<usize>) -> usize {
    let stated = stated.and_then(|columns| columns.trim().parse().ok()).filter(|columns| *columns > 0);
    stated.or(terminal).map_or(COLUMNS_MAX, |columns| columns.clamp(COLUMNS_MIN, COLUMNS_MAX))
}

/// Width of a table: the value of `COLUMNS`, else the terminal's width. `None` if the output isn't
/// a terminal.
pub fn table_columns() -> Option<usize> {
    let stated = std::env::var("COLUMNS").ok();
    let stated = stated.and_then(|columns| columns.trim().parse().ok()).filter(|columns| *columns > 0);
    stated.or_else(terminal_columns)
}

fn terminal_columns() -> Option<usize> {
    terminal_size::terminal_size_of(std::io::stdout()).map(|(width, _)| width.0.into())
}

/// Formats a table, or one paragraph per row if the terminal is too narrow. Breaking the cells
/// instead would break figures.
pub fn fitting(table: &Table) -> String {
    fitting_within(table, table_columns())
}

fn fitting_within(table: &Table, columns: Option<usize>) -> String {
    let has_room = |columns: usize| table.lines().all(|line| line.trim_end().chars().count() <= columns);
    let Some(columns) = columns.filter(|columns| !has_room(*columns)) else { return table.to_string() };
    let heads: Vec<String> =
        table.header().into_iter().flat_map(Row::cell_iter).map(|head| one_line(&head.content())).collect();
    let mut lines = Vec::new();
    for row in table.row_iter() {
        let cells: Vec<String> = row.cell_iter().map(|cell| one_line(&cell.content())).collect();
        lines.extend(wrapped(&row_in_words(&heads, &cells), "", columns.max(COLUMNS_MIN), str::to_owned));
    }
    lines.join("\n")
}

fn one_line(content: &str) -> String {
    content.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Formats a row as text: `policy direct: time 2.1 s, written 1.00 x`.
fn row_in_words(heads: &[String], cells: &[String]) -> String {
    let head = |column: usize| heads.get(column).map_or("", String::as_str);
    let told = |(column, cell): (usize, &String)| format!("{} {cell}", head(column)).trim().to_owned();
    let mut told = cells.iter().enumerate().filter(|(_, cell)| !cell.is_empty()).map(told);
    let name = told.next().unwrap_or_default();
    let figures: Vec<String> = told.collect();
    format!("{name}: {}", figures.join(", "))
}

/// Rounds a figure to `digits` significant digits.
fn rounded(value: f64, digits: u8) -> f64 {
    if value == 0.0 || !value.is_finite() || digits >= DIGITS_MAX {
        return value;
    }
    #[expect(clippy::cast_possible_truncation, reason = "a power of ten")]
    let leading = value.abs().log10().floor() as i32;
    let unit = 10_f64.powi(leading + 1 - i32::from(digits));
    (value / unit).round() * unit
}

/// Formats a time for a table with a common unit, with only the known digits.
pub fn in_unit_to(nanos: f64, unit: TimeUnit, digits: u8) -> String {
    if digits >= DIGITS_MAX {
        return in_unit(nanos, unit);
    }
    to_digits(nanos / unit.nanos(), digits)
}

/// Formats bytes per second as MB/s, with only the known digits.
pub fn bandwidth_to(bytes_per_s: f64, digits: u8) -> String {
    if digits >= DIGITS_MAX { bandwidth(bytes_per_s) } else { to_digits(bytes_per_s / 1e6, digits) }
}

/// Formats a figure with only the known digits.
pub fn to_digits(value: f64, digits: u8) -> String {
    let value = rounded(value, digits);
    if value >= 100.0 || value <= 0.0 || !value.is_finite() {
        return thousands(value);
    }
    #[expect(clippy::cast_possible_truncation, reason = "a power of ten")]
    let leading = value.log10().floor() as i32;
    let places = usize::try_from(i32::from(digits) - 1 - leading).unwrap_or(0);
    format!("{value:.places$}")
}

/// Formats a time for a table with a common unit.
pub fn in_unit(nanos: f64, unit: TimeUnit) -> String {
    let value = nanos / unit.nanos();
    match value {
        ..1.0 => format!("{value:.3}"),
        1.0..10.0 => format!("{value:.2}"),
        10.0..100.0 => format!("{value:.1}"),
        _ => thousands(value),
    }
}

/// Creates a table without lines.
pub fn table<const N: usize>(header: [&str; N]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(header);
    table
}

/// Aligns columns of figures to the right.
pub fn to_the_right(table: &mut Table, columns: impl RangeBounds<usize>) {
    for (number, column) in table.column_iter_mut().enumerate() {
        if columns.contains(&number) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
}

/// Formats bytes per second as MB/s. Small values get enough digits to differ from zero.
pub fn bandwidth(bytes_per_s: f64) -> String {
    let megabytes = bytes_per_s / 1e6;
    match megabytes {
        0.0005..1.0 => format!("{megabytes:.3}"),
        ..100.0 => format!("{megabytes:.1}"),
        _ => thousands(megabytes),
    }
}

/// Formats a latency to three digits; a dash if it is unknown.
pub fn latency(time: Option<Nanos>) -> String {
    match time {
        None => "–".into(),
        Some(Nanos(nanos @ 0..1_000)) => format!("{nanos} ns"),
        Some(Nanos(nanos)) => seconds(nanos as f64 / 1e9),
    }
}

/// Formats a time to three digits.
pub fn seconds(seconds: f64) -> String {
    // Converts -0, the sum of nothing, to 0.
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

/// Quotes a word of any bytes for a shell. Bytes that aren't UTF-8 are written in octal (`$'…'`, as
/// in bash, ksh, zsh and POSIX 2024).
pub fn quoted_os(word: &OsStr) -> String {
    if let Some(text) = word.to_str() {
        return quoted(text);
    }
    let mut text = String::from("$'");
    for byte in word.as_encoded_bytes() {
        match byte {
            b'\\' | b'\'' => text.extend(['\\', char::from(*byte)]),
            b' '..=b'~' => text.push(char::from(*byte)),
            _ => {
                let _ = write!(text, "\\{byte:03o}");
            }
        }
    }
    text + "'"
}

/// Appends a paragraph broken at words, with `mark` before its first line.
pub fn paragraph(text: &mut String, mark: &str, words: &str) {
    for line in wrapped(words, mark, columns(), str::to_owned) {
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
    fn quoted_words_stay_single_words() {
        assert_eq!(
            [quoted("a/b.csv"), quoted("my disk"), quoted("it's"), quoted("")],
            ["a/b.csv", "'my disk'", r"'it'\''s'", "''"]
        );
    }

    #[test]
    fn words_of_any_bytes_can_be_quoted() {
        use std::os::unix::ffi::OsStrExt as _;
        assert_eq!(quoted_os(OsStr::new("a b")), "'a b'");
        let word = OsStr::from_bytes(b"it's \xff\n\\1");
        let quoted = quoted_os(word);
        assert_eq!(quoted, r"$'it\'s \377\012\\1'");
        let Ok(shell) =
            std::process::Command::new("bash").args(["-c", &format!("printf %s {quoted}")]).output()
        else {
            return;
        };
        assert_eq!(OsStr::from_bytes(&shell.stdout), word);
    }

    #[test]
    fn a_line_is_as_wide_as_the_terminal_and_no_wider_than_prose_reads() {
        assert_eq!(columns_of(None, None), 80, "a file has no width");
        assert_eq!((columns_of(None, Some(60)), columns_of(None, Some(200))), (60, 80));
        assert_eq!(columns_of(Some("50"), Some(120)), 50, "COLUMNS has priority");
        assert_eq!((columns_of(Some("wide"), Some(60)), columns_of(Some("0"), None)), (60, 80));
        assert_eq!(columns_of(Some("7"), None), 30);
    }

    #[test]
    fn a_table_that_is_too_wide_becomes_paragraphs() {
        let mut wide = table(["policy", "time", "vs direct"]);
        wide.add_row(["direct", "12m13s", "1.00 x"]).add_row(["stable-ring", "1 234 s", "30.7 x"]);
        assert_eq!(fitting_within(&wide, None), wide.to_string());
        assert_eq!(fitting_within(&wide, Some(80)), wide.to_string());
        assert_eq!(
            fitting_within(&wide, Some(30)),
            "policy direct: time 12m13s, vs\ndirect 1.00 x\npolicy stable-ring: time\n1 234 s, vs direct 30.7 x"
        );
    }

    #[test]
    fn times_of_a_table_are_in_one_unit() {
        let in_us = |nanos| in_unit(nanos, TimeUnit::Microseconds);
        assert_eq!([52_415.0, 4_534.0, 999.0].map(in_us), ["52.4", "4.53", "0.999"]);
        assert_eq!(in_unit(1_234_567_890.0, TimeUnit::Milliseconds), "1 235");
        let to_two = |nanos| in_unit_to(nanos, TimeUnit::Milliseconds, 2);
        assert_eq!([12.34e6, 123.4e6, 1.234e6, 0.5678e6].map(to_two), ["12", "120", "1.2", "0.57"]);
        assert_eq!(in_unit_to(12.34e6, TimeUnit::Milliseconds, 1), "10");
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
