//! Creation of a store where none exists.

use std::io::ErrorKind;
use std::path::Path;

use super::file::StoreFile;
use super::{PageOptions, PageStore};
use crate::{BlockingStore, PageError};

/// Attempts if files keep appearing and vanishing.
const TRIES_TO_MAKE: u32 = 16;

impl PageStore {
    /// Opens the store of a file, or creates one if there is no file. An empty file counts as none,
    /// and so does a file with an incomplete store, left when the program or the power failed. For
    /// an existing store only the options of [opening](PageOptions::open) apply.
    ///
    /// Several processes may call this concurrently: one creates the store. A store can be open
    /// only once, so the others receive [`PageError::Locked`].
    ///
    /// # Errors
    /// As for [`open`](PageStore::open) and [`create`](PageStore::create). A file with other
    /// contents stays unchanged.
    pub fn open_or_create(path: impl AsRef<Path>, options: PageOptions) -> Result<Self, PageError> {
        let path = path.as_ref();
        for _ in 0..TRIES_TO_MAKE {
            match Self::open_with(path, options.open) {
                Err(PageError::File { kind: ErrorKind::NotFound, .. }) => {}
                Err(foreign @ PageError::NotAStoreFile { .. }) if options.open.read_only => {
                    return Err(foreign);
                }
                Err(PageError::NotAStoreFile { .. }) => match Self::make_again(path, options.clone())? {
                    Some(made) => return Ok(made),
                    None => continue,
                },
                opened => return opened,
            }
            match Self::create(path, options.clone()) {
                Err(PageError::File { kind: ErrorKind::AlreadyExists, .. }) => {}
                made => return made,
            }
        }
        // Other processes kept creating and removing it.
        Self::create(path, options)
    }

    fn make_again(path: &Path, options: PageOptions) -> Result<Option<Self>, PageError> {
        let (create, open) = options.into_parts();
        let made = StoreFile::make_again(path, create.device_bytes()?, |file| {
            BlockingStore::create(file.device(), create, open)
        })?;
        Ok(made.map(|(file, store)| Self::on(store, file, &open)))
    }
}
