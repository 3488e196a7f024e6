//! Output of programs: results to standard output, everything else to standard error.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "all program output goes through this module")]

use std::io::{ErrorKind, IsTerminal, Write};

use crate::Failure;

/// Prints a result. A closed pipe (`| head`) isn't an error.
///
/// # Errors
/// Standard output is a file that can't be written.
pub fn result(text: &str) -> Result<(), Failure> {
    print(&shown(text))
}

/// Escapes several lines, so that no name controls the terminal.
fn shown(text: &str) -> String {
    text.split_inclusive('\n').map(shown_line).collect()
}

fn shown_line(line: &str) -> String {
    let (line, end) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
    let columns: Vec<_> = line.split('\t').map(nandle_profile::escaped).collect();
    columns.join("\t") + end
}

/// Escapes JSON. Its serialiser leaves letters beyond ASCII unchanged.
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

fn print(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::failed(format!("writing the result to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Prints a result as JSON.
///
/// # Errors
/// See [`result`].
pub fn json(value: &impl serde::Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value);
    let text = text.map_err(|error| Failure::failed(format!("writing JSON: {error}")))?;
    print(&(shown_json(&text) + "\n"))
}

/// Prints a message to standard error.
pub fn note(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{}", shown(text));
}

/// Prints a question; the user types the answer after it.
pub fn ask(question: &str) {
    let mut err = std::io::stderr().lock();
    let _ = write!(err, "{}", shown(question)).and_then(|()| err.flush());
}

/// Prints an error message.
pub fn problem(program: &str, text: &str) {
    note(&format!("{program}: {text}"));
}

/// Writer for rows, which may exceed the memory.
pub fn rows() -> impl Write + Send {
    std::io::BufWriter::with_capacity(1 << 16, std::io::stdout())
}

/// Returns true if standard output is a terminal.
pub fn is_terminal() -> bool {
    std::io::stdout().is_terminal()
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
