//! A directory for temporary files that is gone afterwards. Those of runs that were killed go when the next one starts: they are known by a file
//! that no process has locked any more.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use nandle_terminal::Failure;
use nandle_terminal::interrupt::remove_when_interrupted;
use tempfile::TempDir;

const PREFIX: &str = "nandle-sql-";
const LOCK: &str = "LOCK";

/// A directory of this run's own.
pub(crate) struct SpillDirectory {
    directory: TempDir,
    _lock: File,
}

impl SpillDirectory {
    /// Makes one in `place`.
    pub(crate) fn make(place: &Path) -> Result<Self, Failure> {
        remove_left(place);
        Self::try_make(place).map_err(|error| {
            let place = place.display();
            Failure::failed(format!(
                "making a directory for temporary files in {place}: {error}; name another one: --spill-directory DIR"
            ))
        })
    }

    fn try_make(place: &Path) -> io::Result<Self> {
        let directory = tempfile::Builder::new().prefix(PREFIX).tempdir_in(place)?;
        remove_when_interrupted(std::iter::once(directory.path()));
        // It has its name when it is locked, so that no other run takes it for one that was left.
        let unlocked = directory.path().join("LOCK.partial");
        let lock = File::create(&unlocked)?;
        lock.lock()?;
        fs::rename(unlocked, directory.path().join(LOCK))?;
        Ok(Self { directory, _lock: lock })
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.directory.path().to_owned()
    }
}

/// What can't be removed belongs to another user.
fn remove_left(place: &Path) {
    let entries = fs::read_dir(place).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(PREFIX)) {
        let lock = File::open(entry.path().join(LOCK));
        if lock.is_ok_and(|lock| lock.try_lock().is_ok()) {
            _ = fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_run_left_goes_and_what_runs_stays() {
        let place = tempfile::tempdir().unwrap();
        let running = SpillDirectory::make(place.path()).unwrap();
        let killed = place.path().join("nandle-sql-killed");
        fs::create_dir(&killed).unwrap();
        fs::write(killed.join(LOCK), "").unwrap();
        let foreign = place.path().join("nandle-sql-foreign");
        fs::create_dir(&foreign).unwrap();
        let next = SpillDirectory::make(place.path()).unwrap();
        assert!(!killed.exists() && foreign.exists() && running.path().exists() && next.path().exists());
        let path = next.path();
        drop(next);
        assert!(!path.exists());
    }
}
