//! Named test files, for file systems without unnamed ones.
//!
//! The name is removed right after opening if the file survives that, and otherwise when the target
//! is dropped. A killed process may leave `.nandle-test-PID-N` behind. Each such file is locked
//! while in use, so the next process that creates a test file in the directory can detect and
//! remove unused ones. (The process number in the name is only for display; in a container it has
//! no meaning outside.)

use std::fs::{self, File};
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::fs::{FlockOperation, OFlags, flock};

use crate::Problem;
use crate::roots::names;

const PREFIX: &str = ".nandle-test-";
/// Most names tried.
const TRIES: u32 = 100;

/// Test file that has or had a name.
#[derive(Debug)]
pub(super) struct NamedFile {
    pub(super) file: File,
    /// Guard of the name, if it still exists.
    pub(super) guard: Option<NameGuard>,
    pub(super) remarks: Vec<String>,
}

/// Removes a name on drop.
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

    /// Keeps the name.
    pub(super) fn keep(mut self) {
        self.path = PathBuf::new();
    }
}

impl Drop for NameGuard {
    fn drop(&mut self) {
        // Another process may have removed it already.
        let _ = fs::remove_file(&self.path);
    }
}

/// Creates a test file and removes its name if the file survives that.
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
                // Without locks stale files stay, which is less harmful than removing one in use.
                let _ = flock(&file, FlockOperation::NonBlockingLockExclusive);
                // Another process may have removed it as stale before it was locked.
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

/// Removes unused test files. Returns a remark for each one found.
fn remove_stale(directory: &Path) -> Vec<String> {
    let stale = names(directory).into_iter().filter(|name| is_ours(name));
    stale.filter_map(|name| remove_if_unused(&directory.join(name))).collect()
}

/// Returns true for `.nandle-test-PID-N`. Other names with that prefix are foreign.
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
    fn a_kept_name_is_removed_with_its_guard() {
        let directory = tempfile::tempdir().unwrap();
        let (_file, guard) = create_locked(directory.path()).unwrap();
        assert_eq!(names(directory.path()).len(), 1);
        drop(guard);
        assert!(names(directory.path()).is_empty());
    }

    #[test]
    fn a_name_is_removed_right_after_opening() {
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
