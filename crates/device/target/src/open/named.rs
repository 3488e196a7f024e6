//! Test files with a name, where the file system has no unnamed ones.
//!
//! The name is taken away straight after opening, where the file survives that; else when the target is dropped.
//! A process that is killed before that leaves `.nandle-test-PID-N` behind. Each such file is locked while it is
//! in use, so the next one to make a test file in the directory knows which of them are unused and removes them.
//! (The process number in the name is for people: behind a container's wall it means nothing.)

use std::fs::{self, File};
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::fs::{FlockOperation, OFlags, flock};

use crate::Problem;
use crate::roots::names;

const PREFIX: &str = ".nandle-test-";
/// Names tried before something else must be wrong.
const TRIES: u32 = 100;

/// A test file that has, or had, a name.
#[derive(Debug)]
pub(super) struct NamedFile {
    pub(super) file: File,
    /// Set where the name is still there.
    pub(super) guard: Option<NameGuard>,
    pub(super) remarks: Vec<String>,
}

/// Removes a name when dropped.
#[derive(Debug)]
pub(crate) struct NameGuard {
    path: PathBuf,
}

impl NameGuard {
    pub(super) fn new(path: &Path) -> Self {
        Self { path: path.into() }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Leaves the name where it is.
    pub(super) fn keep(mut self) {
        self.path = PathBuf::new();
    }
}

impl Drop for NameGuard {
    fn drop(&mut self) {
        // Another process has removed it already.
        let _ = fs::remove_file(&self.path);
    }
}

/// Makes a test file and takes its name away if the file survives that.
pub(super) fn create(directory: &Path) -> Result<NamedFile, Problem> {
    let remarks = remove_stale(directory);
    let (file, guard) = create_locked(directory)?;
    if fs::remove_file(&guard.path).is_ok() && file.metadata().is_ok() {
        return Ok(NamedFile { file, guard: None, remarks });
    }
    // Some network file systems lose the file with its name.
    if guard.path.exists() {
        return Ok(NamedFile { file, guard: Some(guard), remarks });
    }
    let (file, guard) = create_locked(directory)?;
    Ok(NamedFile { file, guard: Some(guard), remarks })
}

fn create_locked(directory: &Path) -> Result<(File, NameGuard), Problem> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    for _ in 0..TRIES {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = directory.join(format!("{PREFIX}{}-{number}", std::process::id()));
        match fs::OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&path) {
            Ok(file) => {
                // Where there are no locks, stale files stay; that harms less than removing one in use.
                let _ = flock(&file, FlockOperation::NonBlockingLockExclusive);
                // Another process may have found it before it was locked, and have removed it as stale.
                if file.metadata().is_ok_and(|metadata| metadata.nlink() > 0) {
                    return Ok((file, NameGuard { path }));
                }
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(Problem::system("making a test file in it")(error)),
        }
    }
    Err(Problem::System {
        action: "finding a free name for a test file in it",
        errno: rustix::io::Errno::EXIST,
    })
}

/// Removes test files that are no longer in use. Returns a remark for each, also for those that stay.
fn remove_stale(directory: &Path) -> Vec<String> {
    let stale = names(directory).into_iter().filter(|name| is_ours(name));
    stale.filter_map(|name| remove_if_unused(&directory.join(name))).collect()
}

/// Whether it is `.nandle-test-PID-N`. Another name that begins like that is foreign.
fn is_ours(name: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let numbers = name.strip_prefix(PREFIX).and_then(|rest| rest.split_once('-'));
    numbers.is_some_and(|(process, number)| is_number(process) && is_number(number))
}

fn remove_if_unused(path: &Path) -> Option<String> {
    let no_follow = OFlags::NOFOLLOW.bits().cast_signed();
    let file = match fs::OpenOptions::new().read(true).write(true).custom_flags(no_follow).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return None,
        Err(error) => return Some(format!("{} of another run can't be looked at: {error}", path.display())),
    };
    flock(&file, FlockOperation::NonBlockingLockExclusive).ok()?;
    Some(match fs::remove_file(path) {
        Ok(()) => format!("removed {}, which an interrupted run had left behind", path.display()),
        Err(error) => {
            format!("{}, left behind by an interrupted run, can't be removed: {error}", path.display())
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_stays_goes_with_its_guard() {
        let directory = tempfile::tempdir().unwrap();
        let (_file, guard) = create_locked(directory.path()).unwrap();
        assert_eq!(names(directory.path()).len(), 1);
        drop(guard);
        assert!(names(directory.path()).is_empty());
    }

    #[test]
    fn a_name_goes_straight_after_opening() {
        let directory = tempfile::tempdir().unwrap();
        let named = create(directory.path()).unwrap();
        assert!(named.guard.is_none());
        assert!(names(directory.path()).is_empty());
        named.file.set_len(4096).unwrap();
    }

    #[test]
    fn files_of_dead_runs_are_removed_and_those_in_use_stay() {
        let directory = tempfile::tempdir().unwrap();
        let (in_use, guard) = create_locked(directory.path()).unwrap();
        fs::write(directory.path().join(".nandle-test-1-1"), "left behind").unwrap();
        for foreign in ["foreign", ".nandle-test-notes", ".nandle-test-1-1.bak", ".nandle-test-1-"] {
            fs::write(directory.path().join(foreign), "own").unwrap();
        }
        let remarks = create(directory.path()).unwrap().remarks;
        assert_eq!(remarks.len(), 1, "{remarks:?}");
        assert!(remarks[0].contains(".nandle-test-1-1"), "{remarks:?}");
        assert!(guard.path.exists());
        assert_eq!(names(directory.path()).len(), 1 + 4);
        drop(in_use);
    }
}
