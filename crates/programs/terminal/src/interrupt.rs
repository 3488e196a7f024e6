//! What Ctrl-C does.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use nandle_session::Cancel;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;

use crate::{Exit, Failure};

/// A flag that Ctrl-C raises (or SIGTERM, or SIGHUP when the terminal goes away), so that what runs can clean up and keep its results. A
/// second one ends the program at once. Test files have no name, so they are gone even then, and those that must have one are removed. What a
/// load of a table has written by then is no part of the table, and the next load removes it.
///
/// One thread takes the signals one after the other: handlers of two that come together could run at the same
/// time, and each take itself for the first.
///
/// # Errors
/// Signals can't be watched for.
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

/// Makes a file that would grow beyond the limit of this process (`ulimit -f`) an error of the write, instead of the end of the program.
///
/// # Errors
/// The signal can't be watched for.
pub fn keep_file_size_limit_an_error() -> Result<(), Failure> {
    signal_hook::flag::register(SIGXFSZ, Arc::default())
        .map(drop)
        .map_err(|error| Failure::failed(format!("watching for the limit on file sizes: {error}")))
}

/// A program that was started with `nohup` is to outlive the terminal.
fn watched(ignored: u64) -> impl Iterator<Item = i32> {
    let is_ignored = move |signal: i32| ignored >> (signal - 1) & 1 == 1;
    [SIGINT, SIGTERM].into_iter().chain((!is_ignored(SIGHUP)).then_some(SIGHUP))
}

/// The signals that this process ignores, a bit each from signal 1 on (`proc_pid_status(5)`); none where that isn't known.
fn ignored_signals() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

/// Names of temporary directories, and of test files on file systems where a file needs one. The program's signals are one for all of it, and so is
/// this.
static NAMES: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Has a second interruption remove these, too.
pub fn remove_when_interrupted<'a>(names: impl Iterator<Item = &'a Path>) {
    NAMES.lock().unwrap_or_else(PoisonError::into_inner).extend(names.map(Into::into));
}

fn remove_names() {
    for name in NAMES.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
        // One that is gone already needs no removing.
        let _ = match std::fs::remove_dir(&name) {
            // Also what is a directory to the kernel alone, whose files can not be removed.
            Ok(()) => Ok(()),
            Err(_) if name.is_dir() => std::fs::remove_dir_all(name),
            Err(_) => std::fs::remove_file(name),
        };
    }
}

fn raise(cancel: &Cancel) {
    if cancel.is_cancelled() {
        remove_names();
        #[expect(clippy::exit, reason = "the user has asked twice")]
        std::process::exit(Exit::Interrupted as i32);
    }
    cancel.cancel();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hangup_is_watched_for_unless_it_is_ignored() {
        let watched = |ignored| watched(ignored).collect::<Vec<_>>();
        assert_eq!(watched(0), [SIGINT, SIGTERM, SIGHUP]);
        assert_eq!(watched(1), [SIGINT, SIGTERM]);
        assert_eq!(watched(0b10), [SIGINT, SIGTERM, SIGHUP]);
    }

    #[test]
    fn what_has_a_name_is_gone_with_the_second_interruption() {
        let directory = tempfile::tempdir().unwrap();
        let name = directory.path().join("test-file");
        std::fs::write(&name, "x").unwrap();
        remove_when_interrupted([name.as_path()].into_iter());
        remove_names();
        assert!(!name.exists());
    }
}
