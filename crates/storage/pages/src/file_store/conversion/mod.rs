//! Converts a store file of an earlier format: copies it to a second file, which then takes its
//! name.
//!
//! ```text
//! NAME         NAME.converting
//! old store    –
//! old store    a partial copy, remade by the next conversion
//! old store    a complete, durable copy
//! copy         old store                  exchanged; then the folder is synced, before anyone can open the copy
//! copy         –
//! ```
//!
//! Both files are locked meanwhile. A process killed after the exchange leaves the fourth state.
//! The next opening then syncs the folder before it permits writes ([`end`]); otherwise a power cut
//! could bring back the old store without later commits.

mod copy;
mod place;

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use nandle_io::runtime::Runtime;
use nandle_io::{DeviceFile, DeviceId, FileLock, FileWorld};

use self::copy::copy_pages;
use self::place::{CopyLength, Place};
use super::found;
use crate::label::Label;
use crate::salvage::like;
use crate::{CreateOptions, OpenOptions, PageError, Store};

const SLOTS: u32 = 256;

/// Converts the store at a path from version `version`, with the options of its opening. Does
/// nothing if the path now leads to another file, or another process has converted the store.
pub(super) fn convert(path: &Path, version: u32, options: &OpenOptions) -> Result<(), PageError> {
    let place = Place::of(path, version)?;
    let lock = locked(place.open()?)?;
    if !found::is_at(path, lock.file().file()) {
        return Ok(());
    }
    let old = Side::open(Arc::clone(lock.file()), options).map_err(|error| place.named(error))?;
    if !old.store.label().is_earlier() {
        return Ok(());
    }
    place.remove_copy(old.store.label())?;
    let copied = make_copy(&place, (&old, lock.file().file()), options);
    let _copy_lock = copied.inspect_err(|_| place.discard_copy()).map_err(|error| place.named(error))?;
    place.exchange()
}

/// Completes a conversion whose process was killed after the copy took the name.
pub(super) fn end(path: &Path) -> Result<(), PageError> {
    Place::of(path, 0)?.end()
}

/// Options of the new store, with checksums of pages even if the old format had none.
fn like_present(label: &Label, zone_bytes: Option<u64>) -> CreateOptions {
    let create = CreateOptions { id: Some(label.id), ..like(label, zone_bytes) };
    if label.may_have_sums() {
        return create;
    }
    CreateOptions {
        home_sums: true,
        pages_max: Some(label.pages.saturating_mul(super::options::GROWTH)),
        ..create
    }
}

/// Makes a complete, durable copy. Returns it with its lock.
fn make_copy(
    place: &Place,
    (old, old_file): (&Side, &File),
    options: &OpenOptions,
) -> Result<FileLock, PageError> {
    let create = like_present(old.store.label(), old.store.zone_bytes());
    let bytes = create.device_bytes()?;
    let pages_bytes = create.pages.saturating_mul(create.page_bytes as u64);
    let length = CopyLength { bytes, beside_pages_bytes: bytes.saturating_sub(pages_bytes) };
    let lock = locked(place.make_copy(old_file, length)?)?;
    let write = || {
        let new = Side::create(Arc::clone(lock.file()), &create, options, old)?;
        copy_pages(old, &new)?;
        new.close()
    };
    write().map_err(|error| place.full_or(old_file, length, error))?;
    place.keep_owner(old_file, lock.file().file())?;
    Ok(lock)
}

fn locked(file: DeviceFile) -> Result<FileLock, PageError> {
    let failed = |error| PageError::Thread { why: format!("locking the file: {error}") };
    FileLock::take(Arc::new(file), false).map_err(failed)?.ok_or(PageError::Locked)
}

/// One of the two stores. Its runtime is dropped last.
struct Side {
    store: Store,
    runtime: Runtime,
}

impl Side {
    fn runtime(file: Arc<DeviceFile>) -> Result<(Runtime, DeviceId), PageError> {
        let mut world = FileWorld::new(SLOTS).map_err(|source| PageError::World { source })?;
        let device = world.add(file).id;
        Ok((Runtime::new(world.into_io()), device))
    }

    /// Opens the old store read-only.
    fn open(file: Arc<DeviceFile>, options: &OpenOptions) -> Result<Self, PageError> {
        let (runtime, device) = Self::runtime(file)?;
        let (handle, options) = (runtime.handle(), OpenOptions { read_only: true, ..*options });
        let store = runtime.block_on(Store::open(&handle, device, options))?;
        Ok(Self { store, runtime })
    }

    /// Creates the new store, whose batch numbers continue those of the old one.
    fn create(
        file: Arc<DeviceFile>,
        create: &CreateOptions,
        options: &OpenOptions,
        old: &Self,
    ) -> Result<Self, PageError> {
        let (runtime, device) = Self::runtime(file)?;
        let (handle, last) = (runtime.handle(), old.store.last_durable_batch());
        let store = runtime.block_on(Store::create_after(&handle, device, create, *options, last))?;
        Ok(Self { store, runtime })
    }

    fn close(self) -> Result<(), PageError> {
        let Self { store, runtime } = self;
        runtime.block_on(store.close())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PageOptions, PageStore};

    /// Another process may convert the store and commit to it after this process saw the earlier
    /// format.
    #[test]
    fn a_store_of_the_present_format_stays_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store");
        let mut store = PageStore::create(&path, PageOptions::new(100)).unwrap();
        store.set_header([42; crate::HEADER_BYTES]).unwrap();
        store.commit().unwrap();
        store.close().unwrap();
        let before = std::fs::read(&path).unwrap();
        convert(&path, 4, &OpenOptions::default()).unwrap();
        assert!(std::fs::read(&path).unwrap() == before, "it was converted again");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
