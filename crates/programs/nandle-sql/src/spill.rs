//! Spill directory, removed at the end. Directories of killed runs are removed at the next start:
//! their lock file is no longer locked.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use nandle_terminal::Failure;
use nandle_terminal::interrupt::remove_when_interrupted;
use rustix::fs::OFlags;

const PREFIX: &str = "nandle-sql-";
const LOCK: &str = "LOCK";
const REMOVALS_MAX: usize = 20;
const BETWEEN_REMOVALS: Duration = Duration::from_millis(10);

/// Private directory of this run.
pub(crate) struct SpillDirectory {
    directory: PathBuf,
    _lock: File,
}

impl SpillDirectory {
    /// Creates a directory in `place`.
    pub(crate) fn make(place: &Path) -> Result<Self, Failure> {
        remove_left(place, rustix::process::geteuid().as_raw());
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
        // Named only once locked, so that no other run considers it abandoned.
        let unlocked = directory.path().join("LOCK.partial");
        let lock = File::create(&unlocked)?;
        lock.lock()?;
        fs::rename(unlocked, directory.path().join(LOCK))?;
        Ok(Self { directory: directory.keep(), _lock: lock })
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.directory.clone()
    }
}

impl Drop for SpillDirectory {
    /// Retries, since tasks of a failed query may still create files for a moment. If all attempts
    /// fail, recreates the lock: a directory without one would never be recognised as abandoned.
    fn drop(&mut self) {
        for _ in 0..REMOVALS_MAX {
            match fs::remove_dir_all(&self.directory) {
                Ok(()) => return,
                Err(error) if error.kind() == io::ErrorKind::NotFound && !self.directory.exists() => return,
                Err(_) => {}
            }
            std::thread::sleep(BETWEEN_REMOVALS);
        }
        _ = File::create(self.directory.join(LOCK));
    }
}

/// Removes the directories that a user's killed runs have left. Other users' directories aren't
/// opened: their lock may be anything.
fn remove_left(place: &Path, user: u32) {
    let entries = fs::read_dir(place).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(PREFIX)) {
        // For a link, the owner of the link.
        let is_own = entry.metadata().is_ok_and(|found| found.is_dir() && found.uid() == user);
        if is_own && open_lock(&entry.path()).is_ok_and(|lock| lock.try_lock().is_ok()) {
            _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Opens without blocking and without following links.
fn open_lock(directory: &Path) -> io::Result<File> {
    let flags = (OFlags::NONBLOCK | OFlags::NOFOLLOW).bits();
    let lock = File::options().read(true).custom_flags(flags.cast_signed()).open(directory.join(LOCK))?;
    if lock.metadata()?.is_file() { Ok(lock) } else { Err(io::ErrorKind::InvalidInput.into()) }
}

#[cfg(test)]
mod tests {
    use rustix::fs::{CWD, FileType, Mode};

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

    #[test]
    fn what_is_no_lock_of_ones_own_is_left_alone() {
        let place = tempfile::tempdir().unwrap();
        let make = |name: &str| {
            let directory = place.path().join(name);
            fs::create_dir(&directory).unwrap();
            directory
        };
        let (pipe, link) = (make("nandle-sql-pipe"), make("nandle-sql-link"));
        // Opening a pipe would block until there is a writer.
        let mode = Mode::RUSR | Mode::WUSR;
        rustix::fs::mknodat(CWD, pipe.join(LOCK), FileType::Fifo, mode, 0).unwrap();
        std::os::unix::fs::symlink(place.path().join("elsewhere"), link.join(LOCK)).unwrap();
        fs::write(place.path().join("elsewhere"), "").unwrap();
        drop(SpillDirectory::make(place.path()).unwrap());
        assert!(pipe.exists() && link.exists());
        let others = make("nandle-sql-others");
        fs::write(others.join(LOCK), "").unwrap();
        remove_left(place.path(), u32::MAX);
        assert!(others.exists());
        drop(SpillDirectory::make(place.path()).unwrap());
        assert!(!others.exists());
    }
}
