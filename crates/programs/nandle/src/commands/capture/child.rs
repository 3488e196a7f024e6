//! The recorded command.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::os::fd::AsFd as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};

use crate::error::CliError;

/// Starts the command. With `json` its standard output goes to standard error.
pub(super) fn start(command: &[OsString], json: bool) -> Result<Option<Child>, CliError> {
    let [program, arguments @ ..] = command else { return Ok(None) };
    let shown = program.to_string_lossy();
    let failed = |error: std::io::Error| match error.kind() {
        ErrorKind::NotFound => {
            CliError::usage(format!("{shown}: there is no such program; nothing was recorded"))
        }
        _ => CliError::failed(format!("starting {shown}: {error}; nothing was recorded")),
    };
    let mut command = Command::new(program);
    command.args(arguments);
    if json {
        let error_output = std::io::stderr().as_fd().try_clone_to_owned().map_err(failed)?;
        command.stdout(Stdio::from(error_output));
    }
    command.spawn().map(Some).map_err(failed)
}

/// Returns true if there is a command and it has ended.
pub(super) fn has_ended(child: Option<&mut Child>) -> Result<bool, CliError> {
    let Some(child) = child else { return Ok(false) };
    let ended = child.try_wait().map_err(|error| waiting(&error))?;
    Ok(ended.is_some())
}

/// Waits for the command and returns its exit code as shells do.
pub(super) fn exit_code(child: Option<Child>) -> Result<Option<u8>, CliError> {
    let Some(mut child) = child else { return Ok(None) };
    let status = child.wait().map_err(|error| waiting(&error))?;
    Ok(Some(code(status)))
}

fn waiting(error: &std::io::Error) -> CliError {
    CliError::failed(format!("waiting for the command: {error}"))
}

fn code(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}
