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

/// How existing files become a table's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Adoption {
    /// By hard links: no byte is copied, and the files stay where they are as well. A write to one of them in place
    /// damages the table, which the sums find out. They must be on the table's file system.
    Link,
    /// By hard links, or by copies from another file system.
    LinkOrCopy,
}

/// How a table is made of files that exist.
#[derive(Debug, Clone)]
pub struct AdoptOptions {
    /// A number that no other table has.
    pub identity: u64,
    /// How the files become its own.
    pub adoption: Adoption,
    /// The profile of the device that they lie on, for the table to keep.
    pub profile: Option<TableProfile>,
}

impl AdoptOptions {
    /// Without a profile.
    pub const fn new(identity: u64, adoption: Adoption) -> Self {
        Self { identity, adoption, profile: None }
    }
}

impl Table {
    /// Makes a table of Parquet files that exist, in their order, without writing their rows anew: they are read through, and sums are
    /// made of what is there. A link and not a path to the outside is kept, so that removing or replacing the original takes nothing
    /// away from the table, and its directory is all there is to it.
    ///
    /// # Errors
    /// There is a table; a file is no Parquet, has nested columns, or others than the first file; a link can't be made. Then there is no table,
    /// and no file of one; where the last steps failed, `LOCK`, the profile or a manifest may be left, and adopting again works.
    pub fn adopt(directory: &Path, paths: &[PathBuf], options: &AdoptOptions) -> Result<Self, ColumnsError> {
        Self::adopt_in(Arc::new(RealFiles::new(directory)), paths, options)
    }

    /// The same on any files.
    ///
    /// # Errors
    /// As with [`adopt`](Self::adopt).
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

/// The profile and all files, which are not yet the table's.
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
