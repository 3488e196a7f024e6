use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use arrow_schema::SchemaRef;

use super::Table;
use super::writing::{lock, write_profile};
use crate::directory::{CURRENT, DATA, LOCK, Manifest, PARTIAL, PROFILE, PROJECTIONS, commit, is_unfinished};
use crate::{Clustering, ColumnsError, Files, Layout, RealFiles};

/// Options of a new table.
#[derive(Debug, Clone)]
pub struct TableOptions {
    /// Its columns, all flat.
    pub schema: SchemaRef,
    /// Layout of its files.
    pub layout: Layout,
    /// Order of its rows.
    pub clustering: Clustering,
    /// A unique number chosen by the caller; checksums are bound to it.
    pub identity: u64,
    /// Profile that the layout is derived from.
    pub profile: Option<TableProfile>,
}

/// A profile stored in a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableProfile {
    /// The measured device.
    pub device: String,
    /// Contents of the profile.
    pub json: Vec<u8>,
}

impl TableOptions {
    /// Options with defaults.
    pub fn new(schema: SchemaRef, identity: u64) -> Self {
        Self { schema, layout: Layout::default(), clustering: Clustering::None, identity, profile: None }
    }
}

impl Table {
    /// Creates a table without rows in a directory, which is created if needed. Overwrites the
    /// remains of an interrupted creation.
    ///
    /// # Errors
    /// A table or rows of one exist; the directory contains other files; a column is nested; I/O
    /// errors.
    pub fn create(directory: &Path, options: &TableOptions) -> Result<Self, ColumnsError> {
        Self::create_in(Arc::new(RealFiles::new(directory)), options)
    }

    /// Returns true if a directory can become a table: it doesn't exist, is empty, or contains the
    /// remains of an interrupted creation. Returns false if it contains a table.
    ///
    /// # Errors
    /// It can't be listed, contains other files, or rows of a table without `CURRENT`.
    pub fn can_be_made(directory: &Path) -> Result<bool, ColumnsError> {
        match check_is_free(&RealFiles::new(directory)) {
            Ok(()) => Ok(true),
            Err(ColumnsError::TableExists) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Creates a table on any file system.
    ///
    /// # Errors
    /// A table exists; a column is nested; I/O errors.
    pub fn create_in(files: Arc<dyn Files>, options: &TableOptions) -> Result<Self, ColumnsError> {
        let mut manifest = Manifest::empty(
            options.identity,
            &options.schema,
            options.layout.clone(),
            options.clustering.clone(),
        )?;
        for field in options.schema.fields() {
            super::schema::check_known_to_parquet(field)?;
        }
        for column in options.clustering.columns() {
            super::schema::place(&options.schema, column)?;
        }
        let lock = prepare(files.as_ref())?;
        if let Some(profile) = &options.profile {
            manifest.profile = Some(write_profile(files.as_ref(), profile)?);
        }
        commit(files.as_ref(), &manifest, &[])?;
        drop(lock);
        Ok(Self { files })
    }
}

/// Creates the directories of a new table, and locks it. Removes the remains of an interrupted
/// creation.
pub(super) fn prepare(files: &dyn Files) -> Result<Box<dyn crate::Held>, ColumnsError> {
    files.create_dir("").map_err(ColumnsError::io("making the directory", "."))?;
    check_is_free(files)?;
    if !listed(files, "")?.iter().any(|name| name == LOCK) {
        files.create(LOCK).map_err(ColumnsError::io("creating", LOCK))?;
        // `LOCK` marks the following files as a table's.
        files.sync_dir("").map_err(ColumnsError::io("syncing the directory of", LOCK))?;
    }
    let lock = lock(files)?;
    // A concurrent creation may have finished.
    check_is_free(files)?;
    for folder in [DATA, PROJECTIONS] {
        files.create_dir(folder).map_err(ColumnsError::io("making the directory", folder))?;
        for name in listed(files, folder)? {
            let path = format!("{folder}/{name}");
            files.remove(&path).map_err(ColumnsError::io("removing", &path))?;
        }
    }
    Ok(lock)
}

/// Rejects a directory with a table, rows of one, or foreign files.
fn check_is_free(files: &dyn Files) -> Result<(), ColumnsError> {
    let names = listed(files, "")?;
    if names.iter().any(|name| name == CURRENT) {
        return Err(ColumnsError::TableExists);
    }
    if has_rows(files)? {
        let why = "it is missing, and files of rows are there: bring it back, or choose another directory";
        return Err(ColumnsError::NotATable { file: CURRENT.to_owned(), why: why.to_owned() });
    }
    foreign(files)?.map_or(Ok(()), |file| Err(ColumnsError::NotEmpty { file }))
}

/// Returns a file that isn't the remains of an interrupted creation, which creates `LOCK` first.
/// Empty folders are accepted: nothing can be lost with them.
fn foreign(files: &dyn Files) -> Result<Option<String>, ColumnsError> {
    let names = listed(files, "")?;
    let begun = [LOCK, PROFILE, &Manifest::name(1)];
    let is_folder = |name: &str| [DATA, PROJECTIONS].contains(&name);
    if names.iter().any(|name| name == LOCK) {
        let is_left = |name: &str| is_folder(name) || begun.contains(&name) || is_unfinished(name);
        return Ok(names.into_iter().find(|name| !is_left(name)));
    }
    if let Some(name) = names.into_iter().find(|name| !is_folder(name)) {
        return Ok(Some(name));
    }
    for folder in [DATA, PROJECTIONS] {
        if let Some(name) = listed(files, folder)?.first() {
            return Ok(Some(format!("{folder}/{name}")));
        }
    }
    Ok(None)
}

/// Returns true if there are data files that a manifest must have named, or was about to.
fn has_rows(files: &dyn Files) -> Result<bool, ColumnsError> {
    for folder in [DATA, PROJECTIONS] {
        let names = listed(files, folder)?;
        if names.iter().any(|name| !name.ends_with(PARTIAL)) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Lists the names in a directory; empty if it doesn't exist.
fn listed(files: &dyn Files, folder: &str) -> Result<Vec<String>, ColumnsError> {
    match files.list(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        names => names.map_err(ColumnsError::io("listing", folder)),
    }
}
