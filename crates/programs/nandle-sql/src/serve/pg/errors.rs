//! Errors in PostgreSQL's form: with a code (appendix A of its manual) and a position.

use nandle_engine::{EngineError, ErrorKind};
use pgwire::error::{ErrorInfo, PgWireError};

use crate::serve::limits::Ended;

/// `program_limit_exceeded`: a server limit was reached.
pub(super) const PROGRAM_LIMIT: &str = "54000";

/// Separator between an engine's error and its cause.
const CAUSED_BY: &str = "\ncaused by\n";

/// SQLSTATE of an error kind.
fn code(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::Syntax => "42601",
        ErrorKind::UnknownTable => "42P01",
        ErrorKind::UnknownColumn => "42703",
        ErrorKind::AmbiguousColumn => "42702",
        ErrorKind::UnknownFunction => "42883",
        ErrorKind::UnknownParameter => "42P02",
        ErrorKind::ReadOnly => "25006",
        ErrorKind::Refused => "42501",
        ErrorKind::Unsupported => "0A000",
        ErrorKind::TooDeep => "54001",
        ErrorKind::TooLong => PROGRAM_LIMIT,
        ErrorKind::Invalid => "42000",
        ErrorKind::DivisionByZero => "22012",
        ErrorKind::OutOfRange => "22003",
        ErrorKind::InvalidValue => "22P02",
        ErrorKind::OutOfMemory => "53200",
        ErrorKind::OutOfSpill => "53100",
        ErrorKind::Io => "58030",
        ErrorKind::Damaged => "XX001",
        ErrorKind::Interrupted => "57014",
        _ => "XX000",
    }
}

fn error(severity: &str, code: &str, message: String) -> ErrorInfo {
    let mut info = ErrorInfo::new(severity.to_owned(), code.to_owned(), message);
    info.severity_nonlocalized = Some(severity.to_owned());
    info
}

/// Error with a given SQLSTATE.
pub(super) fn with_code(code: &str, message: impl Into<String>) -> PgWireError {
    PgWireError::UserError(Box::new(error("ERROR", code, message.into())))
}

/// Converts an engine error.
fn of_engine(error: &EngineError) -> PgWireError {
    PgWireError::UserError(Box::new(info(error)))
}

/// Shows the root cause first: the engine's errors are chains of causes.
fn info(cause: &EngineError) -> ErrorInfo {
    let text = cause.to_string();
    let (detail, message) =
        text.rsplit_once(CAUSED_BY).map_or((None, &*text), |(detail, message)| (Some(detail), message));
    let mut info = error("ERROR", code(cause.kind()), message.to_owned());
    info.detail = detail.map(|detail| detail.replace(CAUSED_BY, ": "));
    info.position = cause.place().map(|place| place.letter.to_string());
    info
}

/// Converts an engine error about a statement's text.
pub(super) fn of_text(text: &str, cause: &EngineError) -> PgWireError {
    let mut info = info(cause);
    info.position = position(text, &info.message).map(|position| position.to_string());
    PgWireError::UserError(Box::new(info))
}

/// Converts the reason why a query ended.
pub(super) fn of_ended(ended: &Ended) -> PgWireError {
    match ended {
        Ended::Full { running, waiting } => with_code(
            "53300",
            format!(
                "{running} queries run and {waiting} wait already, which is the most; try again later, or start the server with more: --queries"
            ),
        ),
        Ended::TimedOut(limit) => with_code(
            "57014",
            format!(
                "the query took more than its time, {limit:?}, and was ended; the server's --time-limit and the session's statement_timeout bound it"
            ),
        ),
        Ended::Failed(error) => of_engine(error),
    }
}

pub(super) fn too_many_clients() -> PgWireError {
    let message = "too many clients are connected already; try again when one has gone".to_owned();
    PgWireError::UserError(Box::new(error("FATAL", "53300", message)))
}

/// A message is too long; the rest isn't read.
pub(super) fn too_long_message(bytes_max: usize) -> PgWireError {
    let message =
        format!("the message has more than {bytes_max} bytes, which is the most; send less at a time");
    PgWireError::UserError(Box::new(error("FATAL", PROGRAM_LIMIT, message)))
}

/// Position of a parser error in characters, from 1. The parser reports `Line: 2, Column: 7`.
fn position(text: &str, message: &str) -> Option<usize> {
    if message.contains("found: EOF") {
        return Some(text.trim_end().chars().count() + 1);
    }
    let (_, place) = message.rsplit_once("Line: ")?;
    let (line, rest) = place.split_once(", Column: ")?;
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    let (line, column): (usize, usize) = (line.parse().ok()?, digits.parse().ok()?);
    let before = text.split_inclusive('\n').take(line.checked_sub(1)?);
    let before: usize = before.map(|line| line.chars().count()).sum();
    Some(before + column)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complaints_have_positions() {
        let message = "Expected: an expression, found: FROM at Line: 2, Column: 3\")";
        assert_eq!(position("SELECT ü,\n  FROM", message), Some(13));
        assert_eq!(position("SELECT 1 FROM", "Expected: identifier, found: EOF"), Some(14));
        assert_eq!(position("SELECT", "no place"), None);
        assert_eq!(position("SELECT", "Line: 0, Column: 1"), None);
    }
}
