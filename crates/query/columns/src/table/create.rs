use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use arrow_schema::SchemaRef;

use super::Table;
use super::writing::{lock, write_profile};
use crate::directory::{CURRENT, DATA, LOCK, Manifest, PARTIAL, PROFILE, PROJECTIONS, commit, is_unfinished};
use crate::{Clustering, ColumnsError, Files, Layout, RealFiles};

/// What a new table is like.
#[derive(Debug, Clone)]
pub struct TableOptions {
    /// Its columns, all of them flat.
    pub schema: SchemaRef,
    /// How its files are laid out.
    pub layout: Layout,
    /// How its rows are ordered.
    pub clustering: Clustering,
    /// A number that no other table has, drawn by the caller; sums are bound to it.
    pub identity: u64,
    /// The profile that the layout follows.
    pub profile: Option<TableProfile>,
}

/// A profile that a table keeps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableProfile {
    /// What was measured.
    pub device: String,
    /// The profile's bytes.
    pub json: Vec<u8>,
}

impl TableOptions {
    /// A table of some columns; the rest is the usual.
    pub fn new(schema: SchemaRef, identity: u64) -> Self {
        Self { schema, layout: Layout::default(), clustering: Clustering::None, identity, profile: None }
    }
}

impl Table {
    /// Makes a table without rows in a directory, which is made if it isn't there. What is left of a making that was cut off is
    /// written over.
    ///
    /// # Errors
    /// There is one, or there are rows of one; the directory holds something else; a column is nested; the system refuses.
    pub fn create(directory: &Path, options: &TableOptions) -> Result<Self, ColumnsError> {
        Self::create_in(Arc::new(RealFiles::new(directory)), options)
    }

    /// Whether a directory can become a table: it isn't there, is empty, or holds what is left of a making that was cut off. If not, there is
    /// a table already.
    ///
    /// # Errors
    /// It can't be listed, holds something else, or rows of a table whose `CURRENT` is gone.
    pub fn can_be_made(directory: &Path) -> Result<bool, ColumnsError> {
        match check_is_free(&RealFiles::new(directory)) {
            Ok(()) => Ok(true),
            Err(ColumnsError::TableExists) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Makes a table on any files.
    ///
    /// # Errors
    /// There is one; a column is nested; the system refuses.
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

/// Makes the directories of a new table, and locks it. What is left of a making that was cut off goes.
pub(super) fn prepare(files: &dyn Files) -> Result<Box<dyn crate::Held>, ColumnsError> {
    files.create_dir("").map_err(ColumnsError::io("making the directory", "."))?;
    check_is_free(files)?;
    if !listed(files, "")?.iter().any(|name| name == LOCK) {
        files.create(LOCK).map_err(ColumnsError::io("creating", LOCK))?;
        // By it what comes after is known for a table's.
        files.sync_dir("").map_err(ColumnsError::io("syncing the directory of", LOCK))?;
    }
    let lock = lock(files)?;
    // Another one may have made a table meanwhile.
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

/// Refuses a directory that holds a table, rows of one, or what isn't a table's.
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

/// What isn't of a making that was cut off: that has made `LOCK` before all others. Nothing is lost with an empty folder.
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

/// Whether there are files that a table's root must have named, or was about to.
fn has_rows(files: &dyn Files) -> Result<bool, ColumnsError> {
    for folder in [DATA, PROJECTIONS] {
        let names = listed(files, folder)?;
        if names.iter().any(|name| !name.ends_with(PARTIAL)) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The names in a directory; none where it isn't there.
fn listed(files: &dyn Files, folder: &str) -> Result<Vec<String>, ColumnsError> {
    match files.list(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        names => names.map_err(ColumnsError::io("listing", folder)),
    }
}
