use std::fmt::Debug;
use std::fs::File;
use std::io::{ErrorKind, Read, Result, Write};
use std::path::Path;
use std::sync::Arc;

use super::{Files, Held, ReadAt, Sharing, WriteFile};

/// Chunk size for copies of external files.
const COPIED_AT_ONCE_BYTES: usize = 1 << 20;

/// Observer of the bytes that a table moves; can stop the work.
pub trait Watch: Debug + Send + Sync {
    /// Reports that `bytes` are about to be read or written.
    ///
    /// # Errors
    /// [`Stopped::error`] stops the work like an I/O error. The table stays unchanged.
    fn moves(&self, bytes: u64) -> Result<()>;
}

/// Cause of work stopped by a [`Watch`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("it was stopped")]
pub struct Stopped;

impl Stopped {
    /// Converts to an I/O error. Its kind isn't `Interrupted`, because callers retry that.
    pub fn error() -> std::io::Error {
        std::io::Error::other(Self)
    }

    /// Returns true if `error` is this error.
    pub(crate) fn is(error: &std::io::Error) -> bool {
        let Some(inner) = error.get_ref() else { return false };
        inner.is::<Self>()
    }
}

/// Files that report their reads and writes to a [`Watch`], for progress and cancellation. Clean-up
/// operations aren't reported, so they still run after a stop.
#[derive(Debug, Clone)]
pub struct WatchedFiles {
    files: Arc<dyn Files>,
    watch: Arc<dyn Watch>,
}

impl WatchedFiles {
    /// Reports operations on `files` to `watch`.
    pub fn new(files: Arc<dyn Files>, watch: Arc<dyn Watch>) -> Self {
        Self { files, watch }
    }
}

impl Files for WatchedFiles {
    fn create(&self, path: &str) -> Result<Box<dyn WriteFile>> {
        let file = self.files.create(path)?;
        Ok(Box::new(WatchedWriteFile { file, watch: Arc::clone(&self.watch) }))
    }

    fn open(&self, path: &str) -> Result<Arc<dyn ReadAt>> {
        let file = self.files.open(path)?;
        Ok(Arc::new(WatchedReadFile { file, watch: Arc::clone(&self.watch) }))
    }

    fn rename(&self, from: &str, to: &str) -> Result<()> {
        self.files.rename(from, to)
    }

    fn remove(&self, path: &str) -> Result<()> {
        self.files.remove(path)
    }

    fn create_dir(&self, path: &str) -> Result<()> {
        self.files.create_dir(path)
    }

    fn sync_dir(&self, path: &str) -> Result<()> {
        self.files.sync_dir(path)
    }

    fn list(&self, path: &str) -> Result<Vec<String>> {
        self.files.list(path)
    }

    fn lock(&self, path: &str, sharing: Sharing) -> Result<Option<Box<dyn Held>>> {
        self.files.lock(path, sharing)
    }

    fn adopt(&self, from: &Path, to: &str, copy: bool) -> Result<()> {
        match self.files.adopt(from, to, false) {
            Err(error) if copy && error.kind() == ErrorKind::CrossesDevices => {
                // Copy in chunks that are reported, because it may take long.
                let (mut source, mut into) = (File::open(from)?, self.create(to)?);
                let mut piece = vec![0; COPIED_AT_ONCE_BYTES];
                loop {
                    let length = match source.read(&mut piece) {
                        Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                        read => read?,
                    };
                    if length == 0 {
                        return into.sync();
                    }
                    into.write_all(piece.get(..length).unwrap_or_default())?;
                }
            }
            adopted => adopted,
        }
    }
}

struct WatchedWriteFile {
    file: Box<dyn WriteFile>,
    watch: Arc<dyn Watch>,
}

impl Write for WatchedWriteFile {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        self.watch.moves(bytes.len() as u64)?;
        self.file.write(bytes)
    }

    fn flush(&mut self) -> Result<()> {
        self.file.flush()
    }
}

impl WriteFile for WatchedWriteFile {
    fn sync(&mut self) -> Result<()> {
        self.file.sync()
    }
}

#[derive(Debug)]
struct WatchedReadFile {
    file: Arc<dyn ReadAt>,
    watch: Arc<dyn Watch>,
}

impl ReadAt for WatchedReadFile {
    fn length_bytes(&self) -> u64 {
        self.file.length_bytes()
    }

    fn read_exact_at(&self, offset_bytes: u64, into: &mut [u8]) -> Result<()> {
        self.watch.moves(into.len() as u64)?;
        self.file.read_exact_at(offset_bytes, into)
    }
}
