//! Child programs that end early when the user interrupts.

use std::io::Read;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use nandle_session::Cancel;

use crate::error::CliError;

/// Interval between checks for Ctrl-C.
const PULSE: Duration = Duration::from_millis(20);

/// Error of an interrupted trial.
pub(super) fn interrupted() -> CliError {
    CliError::interrupted("interrupted; what was set up for the trial is gone")
}

/// Runs a program and returns its output.
///
/// # Errors
///
/// The program can't be started or fails, or the user interrupts.
pub(super) fn run(command: &mut Command, cancel: &Cancel) -> Result<String, CliError> {
    // Its own process group, so that the terminal's Ctrl-C reaches only this program, which then
    // stops the child.
    command.process_group(0).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().map_err(|error| not_started(command, &error))?;
    let output = wait(child, cancel)?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(CliError::failed(format!("{} failed ({}): {}", words(command), output.status, said.trim())))
}

pub(super) fn not_started(command: &Command, error: &std::io::Error) -> CliError {
    CliError::failed(format!("starting {}: {error}", words(command)))
}

fn words(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

fn wait(mut child: Child, cancel: &Cancel) -> Result<Output, CliError> {
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let out = thread::spawn(move || read_all(stdout));
    let err = thread::spawn(move || read_all(stderr));
    let status = loop {
        let ended = child.try_wait();
        match ended.map_err(|error| CliError::failed(format!("waiting for a program: {error}")))? {
            Some(status) => break status,
            None if cancel.is_cancelled() => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(interrupted());
            }
            None => thread::sleep(PULSE),
        }
    };
    Ok(Output { status, stdout: out.join().unwrap_or_default(), stderr: err.join().unwrap_or_default() })
}

fn read_all(pipe: Option<impl Read>) -> Vec<u8> {
    let mut bytes = Vec::new();
    let _ = pipe.map(|mut pipe| pipe.read_to_end(&mut bytes));
    bytes
}

/// Waits until `holds` returns true.
///
/// # Errors
///
/// The user interrupts, or `patience` runs out.
pub(super) fn wait_until(
    what: &str,
    patience: Duration,
    cancel: &Cancel,
    mut holds: impl FnMut() -> Result<bool, CliError>,
) -> Result<(), CliError> {
    let began = std::time::Instant::now();
    while !holds()? {
        if cancel.is_cancelled() {
            return Err(interrupted());
        }
        if began.elapsed() > patience {
            return Err(CliError::failed(format!("{what} did not happen within {} s", patience.as_secs())));
        }
        thread::sleep(PULSE);
    }
    Ok(())
}
