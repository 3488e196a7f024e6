//! Confirmation before anything wears the drive.

use std::io::{BufRead as _, IsTerminal as _};

use nandle_session::{ProbePlan, Session};
use nandle_terminal::output;
use nandle_units::format_bytes;

use crate::error::CliError;

/// States the bytes to be written and asks for confirmation. Doesn't ask if the user has agreed
/// already, or if only a little is written to the test file.
///
/// # Errors
///
/// The user declines, or can't be asked.
pub(super) fn writing(session: &Session, plan: &ProbePlan, is_allowed: bool) -> Result<(), CliError> {
    let bytes = plan.write_bytes_max();
    if bytes == 0 || session.target.is_modelled() {
        return Ok(());
    }
    if plan.write_bytes_to_ask_for() == 0 {
        output::note(&format!(
            "commits and a mixed load write up to {} to the test file; --read-only leaves them out",
            format_bytes(bytes)
        ));
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
