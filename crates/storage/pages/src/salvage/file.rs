//! Inspection of a store in a file, and salvage to a new one.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use nandle_io::runtime::Runtime;
use nandle_io::{DeviceFile, FileLock, FileOptions, FileWorld};

use super::inspection::{InspectOptions, Inspection, Stepped};
use super::like::like;
use super::report::{PageState, Report};
use crate::{OpenOptions, PageError, PageNumber, PageStore, PolicyKind};

/// Requests in flight.
const SLOTS: u32 = 256;
/// Maximum pages per commit.
const COMMIT_PAGES: usize = 4096;

/// Step-by-step inspection of a store in a file. The file is opened read-only, and locked against
/// writers.
///
/// ```
/// use nandle_pages::salvage::{FileInspection, InspectOptions};
/// use nandle_pages::{PageOptions, PageStore};
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("pages.db");
///
/// let mut store = PageStore::create(&path, PageOptions::new(100))?;
/// store.put(7, &[1; 4096])?;
/// store.commit()?;
/// store.close()?;
///
/// let mut inspection = FileInspection::open(&path, &InspectOptions::default())?;
/// while let Some(step) = inspection.step(&mut |_, _, _| {})? {
///     for finding in step.findings {
///         println!("{finding}");
///     }
/// }
/// assert!(inspection.report().is_sound());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct FileInspection {
    inspection: Inspection,
    /// Dropped after the inspection that runs in it.
    runtime: Runtime,
    _lock: FileLock,
}

impl FileInspection {
    /// Opens a store's file, and reads its label.
    ///
    /// # Errors
    /// There is no such file, it is open for writing, or as for [`Inspection::begin`].
    pub fn open(path: impl AsRef<Path>, options: &InspectOptions) -> Result<Self, PageError> {
        let path = path.as_ref();
        let failed =
            |kind, why| PageError::File { action: "opening the store", path: path.into(), kind, why };
        let file = File::open(path).map_err(|error| failed(error.kind(), error.to_string()))?;
        let device = DeviceFile::new(file, FileOptions::default())
            .map_err(|error| failed(std::io::ErrorKind::Unsupported, error.to_string()))?;
        let lock = FileLock::take(Arc::new(device), true)
            .map_err(|error| failed(error.kind(), format!("locking it: {error}")))?
            .ok_or(PageError::Locked)?;
        let mut world = FileWorld::new(SLOTS).map_err(|source| PageError::World { source })?;
        let device = world.add(Arc::clone(lock.file())).id;
        let runtime = Runtime::new(world.into_io());
        let handle = runtime.handle();
        let inspection = runtime.block_on(Inspection::begin(&handle, device, options))?;
        Ok(Self { inspection, runtime, _lock: lock })
    }

    /// See [`Inspection::step`].
    ///
    /// # Errors
    /// As for [`Inspection::step`].
    pub fn step(
        &mut self,
        visit: &mut dyn FnMut(PageNumber, &[u8], PageState),
    ) -> Result<Option<Stepped>, PageError> {
        self.runtime.block_on(self.inspection.step(visit))
    }

    /// See [`Inspection::report`].
    pub fn report(&self) -> &Report {
        self.inspection.report()
    }

    /// Write policy.
    pub fn policy(&self) -> PolicyKind {
        self.inspection.policy()
    }

    /// Number of pages.
    pub fn pages(&self) -> u64 {
        self.inspection.pages()
    }

    /// Length of a page in bytes.
    pub fn page_bytes(&self) -> usize {
        self.inspection.page_bytes()
    }
}

impl std::fmt::Debug for FileInspection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.inspection.fmt(f)
    }
}

/// Copies the remains of a store to a new one of the same policy and page length, step by step.
/// Lost pages become zeros.
///
/// Dropped before [`finish`](Salvage::finish), it removes the new file.
pub struct Salvage {
    from: FileInspection,
    into: Option<PageStore>,
    path: PathBuf,
    uncommitted: usize,
    newest_only: bool,
}

impl Salvage {
    /// Reads the label, and creates the new store. With `newest_only` pages are omitted if only an
    /// older version remains.
    ///
    /// # Errors
    /// As for [`FileInspection::open`], or the new store can't be created: its file exists, or the
    /// disk is full.
    pub fn begin(
        store: impl AsRef<Path>,
        new: impl AsRef<Path>,
        options: &InspectOptions,
        newest_only: bool,
    ) -> Result<Self, PageError> {
        let from = FileInspection::open(store, options)?;
        let create = like(&from.inspection.label, None);
        let into = PageStore::create_as(new.as_ref(), &create, OpenOptions::default())?;
        let path = new.as_ref().into();
        Ok(Self { from, into: Some(into), path, uncommitted: 0, newest_only })
    }

    /// Executes the next step; `None` when all pages are copied.
    ///
    /// # Errors
    /// No memory is available, or the new store can't be written.
    pub fn step(&mut self) -> Result<Option<Stepped>, PageError> {
        let Some(into) = &mut self.into else { return Ok(None) };
        let most = into.largest_commit().min(COMMIT_PAGES);
        let (mut result, newest_only) = (Ok(()), self.newest_only);
        let uncommitted = &mut self.uncommitted;
        let stepped = self.from.step(&mut |page, contents, state| {
            if (newest_only && state == PageState::Older) || result.is_err() {
                return;
            }
            result = match contents.first_chunk() {
                Some(header) if page == PageNumber::HEADER => into.set_header(*header),
                _ => into.put(page.0, contents),
            };
            *uncommitted += 1;
            if *uncommitted >= most && result.is_ok() {
                *uncommitted = 0;
                result = into.commit().map(drop);
            }
        })?;
        result?;
        Ok(stepped)
    }

    /// Inspection of the old store.
    pub fn inspection(&self) -> &FileInspection {
        &self.from
    }

    /// Closes the new store, and reports the state of the pages.
    ///
    /// # Errors
    /// The new store can't be written. It is then removed.
    pub fn finish(mut self) -> Result<Report, PageError> {
        if let Some(mut into) = self.into.take() {
            let closed = into.commit().and_then(|_| into.checkpoint()).and_then(|()| into.close());
            closed.inspect_err(|_| self.remove())?;
        }
        Ok(self.from.report().clone())
    }

    fn remove(&self) {
        // If this fails an incomplete store remains. The caller receives the original error.
        let _ = std::fs::remove_file(&self.path);
    }
}

impl Drop for Salvage {
    fn drop(&mut self) {
        if self.into.take().is_some() {
            self.remove();
        }
    }
}

impl std::fmt::Debug for Salvage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Salvage").field("from", &self.from).field("into", &self.path).finish_non_exhaustive()
    }
}
