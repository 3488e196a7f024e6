//! The one place that prints: results to standard output, all else to standard error.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "this is the program's voice")]

use std::io::{ErrorKind, IsTerminal, Write};

use crate::error::CliError;

/// Prints a result. A reader that has gone away (`| head`) is no error.
///
/// # Errors
/// Standard output goes to a file, and the file can't be written to.
pub(crate) fn result(text: &str) -> Result<(), CliError> {
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
    result(&(text.map_err(|error| CliError::failed(format!("writing JSON: {error}")))? + "\n"))
}

/// Tells something beside the result.
pub(crate) fn note(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// Asks something: the answer is typed behind it.
pub(crate) fn ask(question: &str) {
    let mut err = std::io::stderr().lock();
    let _ = write!(err, "{question}").and_then(|()| err.flush());
}

/// Tells why it didn't work.
pub(crate) fn problem(text: &str) {
    note(&format!("nandle: {text}"));
}

/// Whether standard output is a terminal.
pub(crate) fn is_terminal() -> bool {
    std::io::stdout().is_terminal()
}
