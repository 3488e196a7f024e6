//! A directory with a hook before each operation, to refuse it or to simulate a race.

use std::fmt::{Debug, Formatter};
use std::io::{Result, Write};
use std::path::Path;
use std::sync::Arc;

use nandle_columns::{Files, Held, ReadAt, RealFiles, Sharing, WriteFile};

type Hook = dyn Fn(&str, &str) -> Result<()> + Send + Sync;

pub(crate) struct HookedFiles {
    files: RealFiles,
    before: Arc<Hook>,
}

struct HookedWriteFile {
    file: Box<dyn WriteFile>,
    path: String,
    before: Arc<Hook>,
}

impl Write for HookedWriteFile {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        (self.before)("write", &self.path)?;
        self.file.write(bytes)
    }

    fn flush(&mut self) -> Result<()> {
        self.file.flush()
    }
}

impl WriteFile for HookedWriteFile {
    fn sync(&mut self) -> Result<()> {
        self.file.sync()
    }
}

impl HookedFiles {
    /// `before` receives the operation and the path to be created, written, removed or opened.
    pub(crate) fn new(
        directory: &Path,
        before: impl Fn(&str, &str) -> Result<()> + Send + Sync + 'static,
    ) -> Self {
        Self { files: RealFiles::new(directory), before: Arc::new(before) }
    }
}

impl Debug for HookedFiles {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        self.files.fmt(f)
    }
}

impl Files for HookedFiles {
    fn create(&self, path: &str) -> Result<Box<dyn WriteFile>> {
        (self.before)("create", path)?;
        let (file, before) = (self.files.create(path)?, Arc::clone(&self.before));
        Ok(Box::new(HookedWriteFile { file, path: path.to_owned(), before }))
    }

    fn open(&self, path: &str) -> Result<Arc<dyn ReadAt>> {
        (self.before)("open", path)?;
        self.files.open(path)
    }

    fn rename(&self, from: &str, to: &str) -> Result<()> {
        (self.before)("rename", to)?;
        self.files.rename(from, to)
    }

    fn remove(&self, path: &str) -> Result<()> {
        (self.before)("remove", path)?;
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
        (self.before)("adopt", to)?;
        self.files.adopt(from, to, copy)
    }
}
