use std::fs::{File, TryLockError};
use std::io::{Error, ErrorKind, Result, Write};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Files, Held, ReadAt, Sharing, WriteFile};

/// A directory of the operating system.
#[derive(Debug, Clone)]
pub struct RealFiles {
    root: PathBuf,
}

impl RealFiles {
    /// Files below a directory, which needn't exist yet.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// Path of a table's file in the file system.
    pub fn path(&self, path: &str) -> PathBuf {
        if path.is_empty() { self.root.clone() } else { self.root.join(path) }
    }
}

impl Files for RealFiles {
    fn create(&self, path: &str) -> Result<Box<dyn WriteFile>> {
        Ok(Box::new(RealWriteFile(File::create(self.path(path))?)))
    }

    fn open(&self, path: &str) -> Result<Arc<dyn ReadAt>> {
        Ok(Arc::new(RealReadFile::open(&self.path(path))?))
    }

    fn rename(&self, from: &str, to: &str) -> Result<()> {
        std::fs::rename(self.path(from), self.path(to))
    }

    fn remove(&self, path: &str) -> Result<()> {
        std::fs::remove_file(self.path(path))
    }

    fn create_dir(&self, path: &str) -> Result<()> {
        let path = self.path(path);
        let missing = missing(&path);
        std::fs::create_dir_all(&path)?;
        // Contents are useless as long as the directory's name isn't durable.
        missing.iter().try_for_each(|made| File::open(parent(made))?.sync_all())
    }

    fn sync_dir(&self, path: &str) -> Result<()> {
        File::open(self.path(path))?.sync_all()
    }

    fn list(&self, path: &str) -> Result<Vec<String>> {
        let entries = std::fs::read_dir(self.path(path))?;
        // Skip names that aren't UTF-8: a table has none.
        entries
            .filter_map(|entry| entry.map(|entry| entry.file_name().into_string().ok()).transpose())
            .collect()
    }

    fn lock(&self, path: &str, sharing: Sharing) -> Result<Option<Box<dyn Held>>> {
        let path = self.path(path);
        let file = File::options().read(true).write(sharing == Sharing::Alone).open(&path)?;
        let locked = match sharing {
            Sharing::Shared => file.try_lock_shared(),
            Sharing::Alone => file.try_lock(),
        };
        match locked {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        let (held, named) = (file.metadata()?, std::fs::metadata(&path)?);
        if (held.dev(), held.ino()) != (named.dev(), named.ino()) {
            return Err(Error::new(ErrorKind::NotFound, "the file was replaced while it was being locked"));
        }
        Ok(Some(Box::new(RealHeld { _file: file })))
    }

    fn adopt(&self, from: &Path, to: &str, copy: bool) -> Result<()> {
        let to = self.path(to);
        match std::fs::hard_link(from, &to) {
            Err(error) if copy && error.kind() == ErrorKind::CrossesDevices => {
                std::fs::copy(from, &to)?;
            }
            linked => linked?,
        }
        // Its writer may not have synced it.
        File::open(&to)?.sync_all()
    }
}

/// Missing directories of the path, deepest first.
fn missing(path: &Path) -> Vec<&Path> {
    let named = path.ancestors().filter(|path| !path.as_os_str().is_empty());
    named.take_while(|path| !path.exists()).collect()
}

fn parent(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."))
}

#[derive(Debug)]
struct RealHeld {
    /// The lock belongs to the open file.
    _file: File,
}

impl Held for RealHeld {}

struct RealWriteFile(File);

impl Write for RealWriteFile {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}

impl WriteFile for RealWriteFile {
    fn sync(&mut self) -> Result<()> {
        self.0.sync_all()
    }
}

/// A file of the operating system, open for reading through the page cache.
#[derive(Debug)]
struct RealReadFile {
    file: File,
    length_bytes: u64,
}

impl RealReadFile {
    fn open(path: &Path) -> Result<Self> {
        let file = File::open(path)?;
        let length_bytes = file.metadata()?.len();
        Ok(Self { file, length_bytes })
    }
}

impl ReadAt for RealReadFile {
    fn length_bytes(&self) -> u64 {
        self.length_bytes
    }

    fn read_exact_at(&self, offset_bytes: u64, into: &mut [u8]) -> Result<()> {
        self.file.read_exact_at(into, offset_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_directories_are_synced_where_they_are_made() {
        let directory = tempfile::tempdir().unwrap();
        let inside = |path: &str| directory.path().join(path);
        let deep = inside("a/b/c");
        assert_eq!(missing(&deep), [deep.as_path(), &inside("a/b"), &inside("a")]);
        RealFiles::new(&deep).create_dir("").unwrap();
        assert_eq!(missing(&deep), Vec::<&Path>::new());
        assert_eq!(parent(&deep), inside("a/b"));
        let unheard_of = Path::new("no-such-directory/b");
        assert_eq!(missing(unheard_of), [unheard_of, Path::new("no-such-directory")]);
        assert_eq!(parent(Path::new("no-such-directory")), Path::new("."));
    }
}
