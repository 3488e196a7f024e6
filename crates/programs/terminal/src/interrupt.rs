//! Handling of Ctrl-C and other signals.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use nandle_session::Cancel;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;

use crate::{Exit, Failure};

/// Returns a flag that Ctrl-C, SIGTERM or SIGHUP sets, so that a running command can clean up and
/// keep its results. A second signal ends the program at once. Unnamed test files disappear even
/// then, and named ones are removed. An interrupted load leaves data that isn't part of the table;
/// the next load removes it.
///
/// A single thread receives the signals one after the other. Two concurrent handlers could each
/// take themselves for the first.
///
/// # Errors
/// Signals can't be received.
pub fn cancel_on_signals() -> Result<Cancel, Failure> {
    let cancel = Cancel::default();
    let raised = cancel.clone();
    let signals = Signals::new(watched(ignored_signals()));
    let watching = signals.and_then(|mut signals| {
        let watch = move || signals.forever().for_each(|_| raise(&raised));
        std::thread::Builder::new().name("nandle-signals".into()).spawn(watch)
    });
    watching.map_err(|error| Failure::failed(format!("watching for Ctrl-C: {error}")))?;
    Ok(cancel)
}

/// Makes writes beyond this process's file size limit (`ulimit -f`) fail with an error, instead of
/// ending the program.
///
/// # Errors
/// The signal can't be handled.
pub fn keep_file_size_limit_an_error() -> Result<(), Failure> {
    signal_hook::flag::register(SIGXFSZ, Arc::default())
        .map(drop)
        .map_err(|error| Failure::failed(format!("watching for the limit on file sizes: {error}")))
}

/// Signals to handle. A program started with `nohup` ignores SIGHUP, to outlive the terminal.
fn watched(ignored: u64) -> impl Iterator<Item = i32> {
    let is_ignored = move |signal: i32| ignored >> (signal - 1) & 1 == 1;
    [SIGINT, SIGTERM].into_iter().chain((!is_ignored(SIGHUP)).then_some(SIGHUP))
}

/// Bit mask of the signals that this process ignores, starting at signal 1 (`proc_pid_status(5)`);
/// 0 if unknown.
fn ignored_signals() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

/// Names of temporary directories and named test files. Like signals, they are global to the
/// process.
static NAMES: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Registers names for removal on a second interruption.
pub fn remove_when_interrupted<'a>(names: impl Iterator<Item = &'a Path>) {
    NAMES.lock().unwrap_or_else(PoisonError::into_inner).extend(names.map(Into::into));
}

fn remove_names() {
    for name in NAMES.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
        // A missing name needs no removal.
        let _ = match std::fs::remove_dir(&name) {
            // Covers virtual directories, whose files can't be removed.
            Ok(()) => Ok(()),
            Err(_) if name.is_dir() => std::fs::remove_dir_all(name),
            Err(_) => std::fs::remove_file(name),
        };
    }
}

fn raise(cancel: &Cancel) {
    if cancel.is_cancelled() {
        remove_names();
        #[expect(clippy::exit, reason = "the user has interrupted twice")]
        std::process::exit(Exit::Interrupted as i32);
    }
    cancel.cancel();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hangup_is_handled_unless_ignored() {
        let watched = |ignored| watched(ignored).collect::<Vec<_>>();
        assert_eq!(watched(0), [SIGINT, SIGTERM, SIGHUP]);
        assert_eq!(watched(1), [SIGINT, SIGTERM]);
        assert_eq!(watched(0b10), [SIGINT, SIGTERM, SIGHUP]);
    }

    #[test]
    fn named_files_are_removed_by_a_second_interruption() {
        let directory = tempfile::tempdir().unwrap();
        let name = directory.path().join("test-file");
        std::fs::write(&name, "x").unwrap();
        remove_when_interrupted([name.as_path()].into_iter());
        remove_names();
        assert!(!name.exists());
    }
}
