//! A store that is made where there is none.

use std::io::ErrorKind;
use std::path::Path;

use super::file::StoreFile;
use super::{PageOptions, PageStore};
use crate::{BlockingStore, PageError};

/// Files that are made and removed meanwhile are looked at so often.
const TRIES_TO_MAKE: u32 = 16;

impl PageStore {
    /// Opens the store of a file, or makes a new one where there is no file. An empty file, and one in which a store wasn't made to
    /// its end because the program or the power failed, count as none. Of a store that is there the options count that say how it
    /// is [opened](PageOptions::open), and no others.
    ///
    /// Several processes may call it at the same time: one makes the store. Since one at a time has a store open, the others get
    /// [`PageError::Locked`].
    ///
    /// # Errors
    /// As for [`open`](PageStore::open) and [`create`](PageStore::create). A file that holds anything else is left as it is.
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
        // Others made and removed it all the time.
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
