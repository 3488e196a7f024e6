//! Sources that a user names: a table of this project, a Parquet file, a directory of them, or a
//! pattern.

use std::path::{Path, PathBuf};

use super::partitions::Partitions;
use crate::EngineError;

/// Named data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// Name in queries.
    pub name: String,
    /// Directory of a table of this project; `None` for plain files.
    pub table: Option<PathBuf>,
    /// Parquet files.
    pub files: Vec<PathBuf>,
    /// Columns from the names of their directories.
    pub partitions: Partitions,
    /// Path or pattern that it was found by.
    pub place: String,
}

/// Suffix of files in directories and patterns.
const ENDING: &str = "parquet";
/// Characters that make a name a pattern.
const PATTERN: [char; 3] = ['*', '?', '['];

impl Source {
    /// Finds the source of an argument: `PATH`, or `NAME=PATH` to choose its name.
    ///
    /// # Errors
    /// Nothing is found, or nothing that is Parquet.
    pub fn find(argument: &str) -> Result<Self, EngineError> {
        match argument.split_once('=').filter(|(name, _)| is_name(name) && !Path::new(argument).exists()) {
            Some((name, place)) => Self::at(place, Some(name)),
            None => Self::at(argument, None),
        }
    }

    fn at(place: &str, name: Option<&str>) -> Result<Self, EngineError> {
        let path = Path::new(place);
        let name = name.map_or_else(|| name_of(path), |name| Ok(name.to_owned()))?;
        if path.is_dir() {
            return Self::in_directory(path, place, name);
        }
        let files = if path.exists() { vec![path.to_owned()] } else { matching(place)? };
        Ok(Self { name, table: None, files, partitions: Partitions::default(), place: place.to_owned() })
    }

    /// Lists the files of its directory or pattern again.
    pub(super) fn listed(&self) -> Result<Self, EngineError> {
        let is_one_file = matches!(&*self.files, [file] if *file == Path::new(&self.place));
        if self.table.is_some() || is_one_file {
            return Ok(self.clone());
        }
        let listed = Self::at(&self.place, Some(&self.name))?;
        if listed.table.is_some() {
            return Err(not_found(&self.place, "its files have become a table meanwhile; start anew"));
        }
        Ok(listed)
    }

    fn in_directory(directory: &Path, place: &str, name: String) -> Result<Self, EngineError> {
        let place = place.to_owned();
        if ["CURRENT", "LOCK"].iter().any(|of_table| directory.join(of_table).exists()) {
            let (files, partitions) = (Vec::new(), Partitions::default());
            return Ok(Self { name, table: Some(directory.to_owned()), files, partitions, place });
        }
        let mut files = Vec::new();
        add_files(directory, &mut files)?;
        files.sort();
        if files.is_empty() {
            let why = "no table (it has no `CURRENT`), and no file that ends in `.parquet` lies in it or in directories below that are \
                       called KEY=VALUE; name files in other directories by a pattern: 'data/*/*.parquet'";
            return Err(not_found(&directory.display().to_string(), why));
        }
        let partitions = Partitions::of(directory, &files)?;
        Ok(Self { name, table: None, files, partitions, place })
    }
}

/// Adds the files of a directory, and of subdirectories with a partition value.
fn add_files(directory: &Path, files: &mut Vec<PathBuf>) -> Result<(), EngineError> {
    let entries = std::fs::read_dir(directory).map_err(EngineError::io("listing", directory))?;
    for entry in entries {
        let path = entry.map_err(EngineError::io("listing", directory))?.path();
        let is_value = path.file_name().is_some_and(|name| name.to_string_lossy().contains('='));
        if is_value && path.is_dir() {
            add_files(&path, files)?;
        } else if path.is_file() && path.extension().is_some_and(|ending| ending == ENDING) {
            files.push(path);
        }
    }
    Ok(())
}

/// Expands a pattern.
fn matching(pattern: &str) -> Result<Vec<PathBuf>, EngineError> {
    if !pattern.contains(PATTERN) {
        return Err(not_found(pattern, "there is no such file or directory"));
    }
    let found = glob::glob(pattern).map_err(|error| not_found(pattern, error.msg))?;
    let mut files = Vec::new();
    for path in found {
        let path = path.map_err(|error| EngineError::Io {
            action: "listing",
            path: error.path().to_owned(),
            source: error.into(),
        })?;
        if path.is_file() {
            files.push(path);
        }
    }
    if files.is_empty() {
        return Err(not_found(pattern, "no file matches this pattern"));
    }
    Ok(files)
}

fn not_found(name: &str, why: &str) -> EngineError {
    EngineError::Source { name: name.to_owned(), why: why.to_owned() }
}

/// Default name of a path: its last part without wildcards and without suffix, in a form that SQL
/// can write without quotes.
fn name_of(path: &Path) -> Result<String, EngineError> {
    let absolute = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let mut parts = absolute.components().filter_map(|part| part.as_os_str().to_str());
    let last = parts.rfind(|part| !part.contains(PATTERN) && *part != "/").unwrap_or_default();
    let stem = last.trim_start_matches('.').split('.').next().unwrap_or_default();
    let letter =
        |letter: char| if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '_' };
    let name: String = stem.chars().map(letter).collect();
    if name.chars().all(|letter| letter == '_') {
        return Err(not_found(
            &path.display().to_string(),
            "a table's name can't be made of this path; give it one: NAME=PATH",
        ));
    }
    let starts_with_digit = name.starts_with(|letter: char| letter.is_ascii_digit());
    Ok(if starts_with_digit { format!("t{name}") } else { name })
}

fn is_name(text: &str) -> bool {
    text.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
        && text.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_that_need_no_quotes() {
        let name = |path: &str| name_of(Path::new(path)).unwrap();
        assert_eq!(name("/data/Flights/"), "flights");
        assert_eq!(name("/data/2008.parquet"), "t2008");
        assert_eq!(name("/data/line-items/*.parquet"), "line_items");
        assert_eq!(name("/data/a.b.parquet"), "a");
        assert!(name_of(Path::new("/*.parquet")).is_err());
    }

    #[test]
    fn files_directories_and_patterns_are_found() {
        let directory = tempfile::tempdir().unwrap();
        let place = |name: &str| directory.path().join(name);
        std::fs::create_dir(place("days")).unwrap();
        for name in ["b.parquet", "a.parquet", "days/1.parquet", "note.txt"] {
            std::fs::write(place(name), "").unwrap();
        }
        let find = |name: &str| Source::find(&place(name).display().to_string());
        assert_eq!(find("a.parquet").unwrap().files, [place("a.parquet")]);
        assert_eq!(find("*.parquet").unwrap().files, [place("a.parquet"), place("b.parquet")]);
        let days = Source::find(&format!("d={}", place("days").display())).unwrap();
        assert_eq!((days.name.as_str(), days.files), ("d", vec![place("days/1.parquet")]));
        for wrong in ["c.parquet", "c*", "days/2"] {
            assert!(find(wrong).is_err(), "{wrong}");
        }
        std::fs::write(place("days/CURRENT"), "").unwrap();
        assert_eq!(find("days").unwrap().table, Some(place("days")));
    }
}
