//! Resolves table names of the command line.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use nandle_engine::{EngineError, Source};
use nandle_terminal::Failure;

use crate::error::of_engine;

/// End of a Parquet file. An encrypted footer ends otherwise, and is refused on opening.
const PARQUET_ENDING: &[u8; 4] = b"PAR1";
const ENCRYPTED_ENDING: &[u8; 4] = b"PARE";

/// Sources of the command line, with unique names.
pub(crate) fn find(arguments: &[String]) -> Result<Vec<Source>, Failure> {
    let mut names = BTreeMap::new();
    let mut sources = Vec::with_capacity(arguments.len());
    for argument in arguments {
        let source = Source::find(argument).map_err(|error| of_engine(&error))?;
        source.files.iter().try_for_each(|file| check_is_parquet(file))?;
        if let Some(first) = names.insert(source.name.clone(), argument.clone()) {
            let Source { name, place, .. } = source;
            let second = argument.clone();
            return Err(of_engine(&EngineError::SameName { name, first, second, place }));
        }
        sources.push(source);
    }
    Ok(sources)
}

/// Checks the format early, before a probe of the device.
fn check_is_parquet(path: &Path) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure::failed(format!("opening {}: {error}", path.display()));
    let mut file = File::open(path).map_err(failed)?;
    let length_bytes = file.metadata().map_err(failed)?.len();
    let mut ending = [0; PARQUET_ENDING.len()];
    file.seek(SeekFrom::Start(length_bytes.saturating_sub(ending.len() as u64))).map_err(failed)?;
    if length_bytes >= ending.len() as u64 {
        file.read_exact(&mut ending).map_err(failed)?;
    }
    if ending == *PARQUET_ENDING || ending == *ENCRYPTED_ENDING {
        return Ok(());
    }
    let path = path.display();
    Err(Failure::failed(format!(
        "{path}: it doesn't end as Parquet files do (PAR1): it was cut off, or is of another format; flights in CSV, and Arrow IPC files, become a table by \
         `nandle table load TABLE {path}`"
    )))
}

/// Profile stored in the first table that has one.
pub(crate) fn kept_profile(sources: &[Source]) -> Option<PathBuf> {
    let kept = sources.iter().filter_map(|source| Some(source.table.as_ref()?.join("profile.json")));
    kept.into_iter().find(|profile| profile.is_file())
}

/// A directory with data; `None` without data.
pub(crate) fn directory(sources: &[Source]) -> Option<PathBuf> {
    let of_file = |file: &PathBuf| {
        let parent = file.parent().filter(|parent| !parent.as_os_str().is_empty());
        parent.unwrap_or_else(|| Path::new(".")).to_owned()
    };
    let first = sources.first()?;
    first.table.clone().or_else(|| first.files.first().map(of_file))
}
