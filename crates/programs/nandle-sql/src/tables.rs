//! What a command's names lead to.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use nandle_engine::{EngineError, Source};
use nandle_terminal::Failure;

use crate::error::of_engine;

/// The sources of a command line, whose names are all different.
pub(crate) fn find(arguments: &[String]) -> Result<Vec<Source>, Failure> {
    let mut names = BTreeMap::new();
    let mut sources = Vec::with_capacity(arguments.len());
    for argument in arguments {
        let source = Source::find(argument).map_err(|error| of_engine(&error))?;
        if let Some(first) = names.insert(source.name.clone(), argument.clone()) {
            let (name, second) = (source.name, argument.clone());
            return Err(of_engine(&EngineError::SameName { name, first, second }));
        }
        sources.push(source);
    }
    Ok(sources)
}

/// The profile that a table keeps: that of the first one that keeps one.
pub(crate) fn kept_profile(sources: &[Source]) -> Option<PathBuf> {
    let kept = sources.iter().filter_map(|source| Some(source.table.as_ref()?.join("profile.json")));
    kept.into_iter().find(|profile| profile.is_file())
}

/// A directory in which data lie; none without data.
pub(crate) fn directory(sources: &[Source]) -> Option<PathBuf> {
    let of_file = |file: &PathBuf| {
        let parent = file.parent().filter(|parent| !parent.as_os_str().is_empty());
        parent.unwrap_or_else(|| Path::new(".")).to_owned()
    };
    let first = sources.first()?;
    first.table.clone().or_else(|| first.files.first().map(of_file))
}
