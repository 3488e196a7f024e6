use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Table;
use super::create::{TableProfile, prepare};
use super::discard::discard_unmade;
use super::run_writer::write_sums;
use super::writing::{Writing, write_profile};
use crate::directory::{DATA, FileEntry, Manifest, PARTIAL, Run};
use crate::sums::sum_file;
use crate::{Clustering, ColumnsError, Files, Layout, ParquetFile, RealFiles, Snapshot};

/// Method by which existing files become a table's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Adoption {
    /// Hard links: nothing is copied, and the originals stay. Later writes to them damage the
    /// table, which the checksums detect. They must be on the table's file system.
    Link,
    /// Hard links, or copies from another file system.
    LinkOrCopy,
}

/// Options to create a table from existing files.
#[derive(Debug, Clone)]
pub struct AdoptOptions {
    /// A unique number for the table.
    pub identity: u64,
    /// Adoption method.
    pub adoption: Adoption,
    /// Profile of the files' device, to be stored in the table.
    pub profile: Option<TableProfile>,
}

impl AdoptOptions {
    /// Options without a profile.
    pub const fn new(identity: u64, adoption: Adoption) -> Self {
        Self { identity, adoption, profile: None }
    }
}

impl Table {
    /// Creates a table from existing Parquet files in this order, without rewriting them. Reads
    /// them once to compute checksums. The table contains links, not paths, so it is self-contained
    /// and survives the removal or replacement of the originals.
    ///
    /// # Errors
    /// A table exists; a file isn't Parquet, has nested columns, or other columns than the first; a
    /// link can't be created. No table and no data files are left then. If one of the last steps
    /// failed, `LOCK`, the profile or a manifest may be left; adopting again works.
    pub fn adopt(directory: &Path, paths: &[PathBuf], options: &AdoptOptions) -> Result<Self, ColumnsError> {
        Self::adopt_in(Arc::new(RealFiles::new(directory)), paths, options)
    }

    /// Adopts files into a table on any file system.
    ///
    /// # Errors
    /// See [`adopt`](Self::adopt).
    pub fn adopt_in(
        files: Arc<dyn Files>,
        paths: &[PathBuf],
        options: &AdoptOptions,
    ) -> Result<Self, ColumnsError> {
        let found = Snapshot::of_files(paths)?;
        found.check_same_columns()?;
        let (layout, clustering) = (Layout::default(), Clustering::None);
        let manifest = Manifest::empty(options.identity, found.schema(), layout, clustering)?;
        let lock = prepare(files.as_ref())?;
        let mut writing = Writing::first(&files, manifest, lock);
        let entries = adopt_all(&mut writing, paths, &found, options).inspect_err(|_| {
            writing.abandon();
            discard_unmade(files.as_ref());
        })?;
        writing.manifest.runs.push(Run { snapshot: writing.manifest.snapshot, files: entries });
        writing.commit()?;
        Ok(Self { files })
    }
}

/// Adds the profile and all files, which aren't committed yet.
fn adopt_all(
    writing: &mut Writing,
    paths: &[PathBuf],
    found: &Snapshot,
    options: &AdoptOptions,
) -> Result<Vec<FileEntry>, ColumnsError> {
    if let Some(profile) = &options.profile {
        writing.manifest.profile = Some(write_profile(writing.files.as_ref(), profile)?);
    }
    let files = paths.iter().zip(found.files());
    files.map(|(path, file)| adopt_file(writing, path, file, options.adoption)).collect()
}

fn adopt_file(
    writing: &mut Writing,
    path: &Path,
    file: &ParquetFile,
    adoption: Adoption,
) -> Result<FileEntry, ColumnsError> {
    let names = writing.new_file(DATA);
    let partial = format!("{}{PARTIAL}", names.data);
    let copy = adoption == Adoption::LinkOrCopy;
    writing
        .files
        .adopt(path, &partial, copy)
        .map_err(ColumnsError::io("linking into the table", file.name()))?;
    let linked = writing.files.open(&partial).map_err(ColumnsError::io("opening", &partial))?;
    let sums = sum_file(linked.as_ref(), names.identity).map_err(ColumnsError::io("reading", &partial))?;
    let entry = write_sums(writing.files.as_ref(), &names, &sums)?;
    Ok(FileEntry { path: names.data, bytes: sums.length_bytes(), rows: file.rows(), sums: entry })
}
