//! Crash explorer: builds `nandle-crash` optimised, with its assertions, and runs it. This program
//! needn't know the store.

use std::process::ExitCode;

use crate::command::{cargo, succeeds};
use crate::exit_code;

/// Runs it with the user's own options. Its last line counts images and violations.
pub(crate) fn run(options: &[String]) -> ExitCode {
    let mut command = cargo(&["run", "--quiet", "--profile", "crash", "--package", "nandle-crash", "--"]);
    match succeeds(command.args(options)) {
        Ok(true) => ExitCode::SUCCESS,
        // It has said what is wrong.
        Ok(false) => ExitCode::FAILURE,
        Err(error) => exit_code(Err(error.into())),
    }
}
