use std::fs::{File, Metadata};
use std::io::{Error, Result};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Files, ReadAt};

/// A file of a table, opened for each read, so that a table of many files needs few file
/// descriptors. Files of a table never change, and a snapshot keeps them.
#[derive(Debug)]
pub(crate) struct OnDemand {
    files: Arc<dyn Files>,
    path: String,
    length_bytes: u64,
}

impl OnDemand {
    pub(crate) fn open(files: &Arc<dyn Files>, path: &str) -> Result<Self> {
        let length_bytes = files.open(path)?.length_bytes();
        Ok(Self { files: Arc::clone(files), path: path.to_owned(), length_bytes })
    }
}

impl ReadAt for OnDemand {
    fn length_bytes(&self) -> u64 {
        self.length_bytes
    }

    fn read_exact_at(&self, offset_bytes: u64, into: &mut [u8]) -> Result<()> {
        self.files.open(&self.path)?.read_exact_at(offset_bytes, into)
    }
}

/// A file outside of a table, opened for each read. An error if it was replaced in the meantime.
#[derive(Debug)]
pub(crate) struct ForeignFile {
    path: PathBuf,
    length_bytes: u64,
    identity: Identity,
}

/// Identity of a file. Length and time of writing are included, because inode numbers are reused.
#[derive(Debug, PartialEq, Eq)]
struct Identity {
    file_system: u64,
    number: u64,
    length_bytes: u64,
    written_at: (i64, i64),
}

impl Identity {
    fn of(metadata: &Metadata) -> Self {
        Self {
            file_system: metadata.dev(),
            number: metadata.ino(),
            length_bytes: metadata.len(),
            written_at: (metadata.mtime(), metadata.mtime_nsec()),
        }
    }
}

impl ForeignFile {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let metadata = File::open(path)?.metadata()?;
        Ok(Self { path: path.to_owned(), length_bytes: metadata.len(), identity: Identity::of(&metadata) })
    }
}

impl ReadAt for ForeignFile {
    fn length_bytes(&self) -> u64 {
        self.length_bytes
    }

    fn read_exact_at(&self, offset_bytes: u64, into: &mut [u8]) -> Result<()> {
        let file = File::open(&self.path)?;
        if Identity::of(&file.metadata()?) != self.identity {
            return Err(Error::other(
                "another file has taken its place, or it was written to, since it was opened",
            ));
        }
        file.read_exact_at(into, offset_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_was_replaced_is_not_read_for_the_one_that_was_opened() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a");
        std::fs::write(&path, "first").unwrap();
        let opened = ForeignFile::open(&path).unwrap();
        let mut bytes = [0; 5];
        opened.read_exact_at(0, &mut bytes).unwrap();
        assert_eq!(&bytes, b"first");
        let other = directory.path().join("b");
        std::fs::write(&other, "other").unwrap();
        std::fs::rename(&other, &path).unwrap();
        let error = opened.read_exact_at(0, &mut bytes).unwrap_err();
        assert!(error.to_string().contains("another file"), "{error}");
    }

    #[test]
    fn a_file_that_was_written_to_is_not_the_one_that_was_opened() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a");
        std::fs::write(&path, "first").unwrap();
        let opened = ForeignFile::open(&path).unwrap();
        std::fs::write(&path, "other").unwrap();
        let later = std::time::SystemTime::now() + std::time::Duration::from_secs(5);
        File::options().write(true).open(&path).unwrap().set_modified(later).unwrap();
        assert!(opened.read_exact_at(0, &mut [0; 5]).is_err());
    }
}
