//! Opening of an existing store.

use std::path::Path;

use super::file::StoreFile;
use super::{PageStore, conversion};
use crate::{BlockingStore, OpenOptions, PageError};

/// Attempts if the file is replaced while it is opened.
const TRIES_TO_OPEN: u32 = 16;

impl PageStore {
    /// Opens a store, regardless of how its last program ended.
    ///
    /// A store of an earlier format is first converted, unless it is opened
    /// [read-only](OpenOptions::read_only). Its pages are copied to a new store `NAME.converting`,
    /// which then takes its name. This takes the time to read and write all its pages, and as much
    /// space as the store. A power cut or a failure at any time leaves the old store or the new
    /// one, and the next opening starts again. The file keeps its owner and permissions. Other hard
    /// links keep the old store.
    ///
    /// # Errors
    /// There is no such file, it holds no store or a damaged one, or the store is open elsewhere.
    /// For a store of an earlier format also: there is no space for the conversion
    /// ([`PageError::ConversionSpace`]), or a page can't be read ([`PageError::Conversion`]); the
    /// store then stays unchanged.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, PageError> {
        Self::open_with(path, OpenOptions::default())
    }

    /// Opens a store with explicit options.
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
                // The name now leads to another file, such as a conversion's copy.
                Ok(_) | Err(_) => {}
            }
        }
        Err(PageError::Locked)
    }
}
