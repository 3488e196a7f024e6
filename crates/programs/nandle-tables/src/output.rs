//! The one place that prints: results to standard output, all else to standard error.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "this is the program's voice")]

use std::io::{ErrorKind, Write};

use crate::error::CliError;

/// Prints a result. A reader that has gone away (`| head`) is no error.
///
/// # Errors
/// Standard output goes to a file, and the file can't be written to.
pub(crate) fn result(text: &str) -> Result<(), CliError> {
    print(&shown(text))
}

/// Several lines, in which nothing that a name contains steers the terminal.
fn shown(text: &str) -> String {
    text.split_inclusive('\n').map(shown_line).collect()
}

fn shown_line(line: &str) -> String {
    let (line, end) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
    let columns: Vec<_> = line.split('\t').map(nandle_profile::escaped).collect();
    columns.join("\t") + end
}

/// The same in JSON, whose own writer leaves what stands above the ASCII letters as it is.
fn shown_json(json: &str) -> String {
    let disturbs = |letter: &char| *letter != '\n' && nandle_profile::disturbs(*letter);
    let shown = |letter: char| {
        if disturbs(&letter) { format!("\\u{:04x}", u32::from(letter)) } else { letter.to_string() }
    };
    if json.chars().any(|letter| disturbs(&letter)) {
        json.chars().map(shown).collect()
    } else {
        json.to_owned()
    }
}

fn print(text: &str) -> Result<(), CliError> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(CliError::failed(format!("writing the result to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Prints a result as JSON.
///
/// # Errors
/// As [`result`].
pub(crate) fn json(value: &impl serde::Serialize) -> Result<(), CliError> {
    let text = serde_json::to_string_pretty(value);
    let text = text.map_err(|error| CliError::failed(format!("writing JSON: {error}")))?;
    print(&(shown_json(&text) + "\n"))
}

/// Tells something beside the result.
pub(crate) fn note(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{}", shown(text));
}

/// Tells why it didn't work.
pub(crate) fn problem(text: &str) {
    note(&format!("nandle-tables: {text}"));
}

/// Where rows go, of which there may be more than memory holds.
pub(crate) fn rows() -> impl Write {
    std::io::BufWriter::with_capacity(1 << 16, std::io::stdout().lock())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_steers_the_terminal() {
        assert_eq!(shown("a\tb\nc\u{1b}[31m\u{9b}2J\n"), "a\tb\nc\\u{1b}[31m\\u{9b}2J\n");
        let json = serde_json::to_string_pretty(&["\u{9b}2J\u{202e}", "é"]).unwrap();
        let printed = shown_json(&json);
        assert!(
            !printed.chars().any(|letter| letter != '\n' && nandle_profile::disturbs(letter)),
            "{printed:?}"
        );
        assert_eq!(serde_json::from_str::<[String; 2]>(&printed).unwrap(), ["\u{9b}2J\u{202e}", "é"]);
    }
}
