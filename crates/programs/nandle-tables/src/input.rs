//! Input of a command: a table or Parquet files.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use nandle_columns::{Commit, ParquetFile, Snapshot, Table};
use nandle_terminal::output;

use crate::error::CliError;

pub(crate) struct Input {
    pub(crate) snapshot: Snapshot,
    /// Directory of the table.
    pub(crate) table: Option<PathBuf>,
    paths: Vec<PathBuf>,
}

impl Input {
    /// Opens a directory as a table, anything else as Parquet files.
    pub(crate) fn open(paths: &[PathBuf]) -> Result<Self, CliError> {
        let tables = paths.iter().filter(|path| path.is_dir()).count();
        match (paths, tables) {
            ([], _) => Err(CliError::usage("name a table's directory, or Parquet files")),
            ([directory], 1) if is_no_table(directory) => {
                let place = directory.display();
                Err(CliError::usage(format!(
                    "{place}: there is no table in this directory (it has no `CURRENT`); name its Parquet files themselves, or make a table of them: nandle table adopt NEW {place}/*.parquet"
                )))
            }
            ([directory], 1) => Ok(Self {
                snapshot: open_table(directory)?.snapshot().map_err(|error| of_table(directory, error))?,
                table: Some(directory.clone()),
                paths: Vec::new(),
            }),
            (_, 0) => {
                paths.iter().try_for_each(|path| check_parquet(path))?;
                Ok(Self { snapshot: Snapshot::of_files(paths)?, table: None, paths: paths.to_vec() })
            }
            _ => {
                Err(CliError::usage("name one table's directory, or Parquet files alone, not both together"))
            }
        }
    }

    /// Path of a file.
    pub(crate) fn path_of(&self, file: &ParquetFile) -> PathBuf {
        if let Some(table) = &self.table {
            return table.join(file.name());
        }
        // By position: a name that isn't UTF-8 is shown approximately and may be ambiguous.
        let place = self.snapshot.files().iter().position(|own| std::ptr::eq(own.as_ref(), file));
        let path = place.and_then(|place| self.paths.get(place));
        path.cloned().unwrap_or_else(|| PathBuf::from(file.name()))
    }

    /// Directory of the data.
    pub(crate) fn directory(&self) -> PathBuf {
        let of_file = || self.paths.first().and_then(|path| path.parent()).map(Path::to_owned);
        let directory = self.table.clone().or_else(of_file).unwrap_or_default();
        if directory.as_os_str().is_empty() { PathBuf::from(".") } else { directory }
    }

    /// Stored profile of the table, or of the table whose `data/` holds the files.
    pub(crate) fn kept_profile(&self) -> Option<PathBuf> {
        if let Some(table) = &self.table {
            self.snapshot.manifest()?.profile.as_ref()?;
            return Some(table.join("profile.json"));
        }
        let folder = self.paths.first()?.parent()?;
        let is_data =
            folder.file_name()? == "data" && self.paths.iter().all(|path| path.parent() == Some(folder));
        let kept = folder.parent()?.join("profile.json");
        (is_data && kept.is_file()).then_some(kept)
    }

    /// Name in messages.
    pub(crate) fn name(&self) -> String {
        match (&self.table, self.paths.as_slice()) {
            (Some(table), _) => table.display().to_string(),
            (None, [path]) => path.display().to_string(),
            (None, paths) => format!("{} Parquet files", paths.len()),
        }
    }
}

/// Checks the format before a decoder reports damage.
fn check_parquet(path: &Path) -> Result<(), CliError> {
    let wrong = |error: std::io::Error| CliError::failed(format!("{}: {error}", path.display()));
    let mut start = Vec::new();
    open_regular(path)?.take(4).read_to_end(&mut start).map_err(wrong)?;
    // An encrypted file starts differently, and is reported when its footer is read.
    if start == b"PAR1" || start == b"PARE" {
        return Ok(());
    }
    Err(CliError::failed(format!(
        "{}: it is no Parquet file (it doesn't begin with PAR1); `nandle table load TABLE FILES…` reads CSV files of flights and Arrow IPC",
        path.display()
    )))
}

/// Opens a file to be read more than once. A pipe can't be reread, and opening one blocks.
pub(crate) fn open_regular(path: &Path) -> Result<File, CliError> {
    let wrong = |error: std::io::Error| CliError::failed(format!("{}: {error}", path.display()));
    let kind = path.metadata().map_err(wrong)?.file_type();
    if kind.is_dir() {
        let place = path.display();
        return Err(CliError::usage(format!("{place}: it is a directory; name the files in it: {place}/*")));
    }
    if !kind.is_file() {
        return Err(CliError::usage(format!(
            "{}: it is a pipe or a device, which can't be read more than once; write what comes from it to a file, and name that",
            path.display()
        )));
    }
    File::open(path).map_err(wrong)
}

/// Opens an existing table.
pub(crate) fn open_table(directory: &Path) -> Result<Table, CliError> {
    let place = directory.display();
    if directory.is_file() {
        return Err(CliError::usage(format!(
            "{place}: a table is a directory, and this is a file; `nandle scan {place}` reads a Parquet file as it lies, `nandle table adopt NEW {place}` makes a table of it"
        )));
    }
    if !directory.is_dir() {
        return Err(CliError::usage(format!(
            "{place}: there is no such directory; `nandle table load {place} FILES…` makes a table of flights or Parquet files"
        )));
    }
    if is_no_table(directory) {
        return Err(CliError::usage(format!(
            "{place}: there is no table in this directory (it has no `CURRENT`); `nandle table load {place} FILES…` makes one where it is empty"
        )));
    }
    Table::open(directory).map_err(|error| of_table(directory, error))
}

fn is_no_table(directory: &Path) -> bool {
    !["CURRENT", "LOCK"].iter().any(|name| directory.join(name).exists())
}

/// Adds the table's name to an error.
pub(crate) fn of_table(directory: &Path, error: nandle_columns::ColumnsError) -> CliError {
    CliError::from(error).of(&directory.display())
}

/// Reports why files of older snapshots remain. The commit itself succeeded.
pub(crate) fn tell_of_left(directory: &Path, commit: &Commit) {
    if let Some(error) = &commit.left {
        output::note(&format!(
            "{}: files of older snapshots are still there: {error}. The next load tries again to remove them.",
            directory.display()
        ));
    }
}
