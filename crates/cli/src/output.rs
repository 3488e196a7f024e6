//! The one place that prints: results to standard output, all else to standard error.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "this is the program's voice")]

use std::io::{IsTerminal, Write};

/// Prints a result. A reader that has gone away (`| head`) is no error.
pub(crate) fn result(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// Tells something beside the result.
pub(crate) fn note(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// Tells why it didn't work.
pub(crate) fn problem(text: &str) {
    note(&format!("nandle: {text}"));
}

/// Whether standard output is a terminal.
pub(crate) fn is_terminal() -> bool {
    std::io::stdout().is_terminal()
}
