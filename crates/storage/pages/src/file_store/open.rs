//! A store that is there.

use std::path::Path;

use super::file::StoreFile;
use super::{PageStore, conversion};
use crate::{BlockingStore, OpenOptions, PageError};

/// A file whose name is given to another one meanwhile is opened again so often.
const TRIES_TO_OPEN: u32 = 16;

impl PageStore {
    /// Opens a store, whatever became of the program that used it last.
    ///
    /// A store of an earlier format is converted first, unless it is opened [to read only](OpenOptions::read_only): its pages are
    /// copied to a new store beside it, `NAME.converting`, which then takes its name. That takes as long as reading and writing all
    /// of its pages, and as much space as the store has. A power cut or a failure at any time leaves the old store or the new one,
    /// and the next opening begins again.
    /// The file keeps its owner and permissions. Another hard link of it keeps the old store.
    ///
    /// # Errors
    /// There is no such file, it holds no store or a damaged one, or the store is open elsewhere. Or the store is of an earlier
    /// format and there is no space to convert it ([`PageError::ConversionSpace`]), or a page of it can't be read
    /// ([`PageError::Conversion`]): then it is left as it is.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, PageError> {
        Self::open_with(path, OpenOptions::default())
    }

    /// Opens a store with other options.
    ///
    /// # Errors
    /// As for [`open`](PageStore::open).
    pub fn open_with(path: impl AsRef<Path>, options: OpenOptions) -> Result<Self, PageError> {
        let path = path.as_ref();
        for _ in 0..TRIES_TO_OPEN {
            let file = StoreFile::open(path, options.read_only)?;
            match BlockingStore::open(file.device(), options) {
                Ok(store) if file.is_at_path() => {
                    if !options.read_only {
                        conversion::end(path)?;
                    }
                    return Ok(Self::on(store, file, &options));
                }
                Err(PageError::EarlierFormat { got, .. }) if file.is_regular() => {
                    conversion::convert(path, got, &options)?;
                }
                Err(error) if file.is_at_path() => return Err(file.named(error)),
                // Its name leads to another file since it was opened: a conversion's copy, for example.
                Ok(_) | Err(_) => {}
            }
        }
        Err(PageError::Locked)
    }
}
