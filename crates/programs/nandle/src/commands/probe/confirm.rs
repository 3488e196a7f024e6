//! Asks before anything wears the drive.

use std::io::{BufRead as _, IsTerminal as _};

use nandle_session::Session;
use nandle_terminal::output;
use nandle_units::format_bytes;

use crate::error::CliError;

/// Says how much will be written, and asks for a yes unless it was given.
///
/// # Errors
/// The user says no, or can't be asked.
pub(super) fn writing(session: &Session, bytes: u64, is_allowed: bool) -> Result<(), CliError> {
    if bytes == 0 || session.target.is_modelled() {
        return Ok(());
    }
    let what = format!(
        "the experiments write up to {} to {}, which wears the drive",
        format_bytes(bytes),
        session.name()
    );
    if is_allowed {
        output::note(&what);
        return Ok(());
    }
    if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        return Err(CliError::usage(format!(
            "{what}; give --yes to allow it, or --read-only to leave them out"
        )));
    }
    output::ask(&format!("{what}. Go on? [y/N] "));
    let mut answer = String::new();
    let _ = std::io::stdin().lock().read_line(&mut answer);
    if matches!(answer.trim(), "y" | "Y" | "yes") {
        return Ok(());
    }
    Err(CliError::interrupted("nothing was measured; --read-only leaves out what writes"))
}
