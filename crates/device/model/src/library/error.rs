use std::path::PathBuf;

use super::StateFileError;
use crate::array::ArrayError;
use crate::disk::DiskError;
use crate::flash::{ParameterError, StateError};

/// Reasons why a model can't be loaded or built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The library has no drive or array of that name.
    #[error(
        "no modelled drive is named {name:?}; {} are {known}, and files (PATH.toml)",
        nearest.map_or_else(|| "there".to_owned(), |nearest| format!("did you mean {nearest:?}? There"))
    )]
    Unknown {
        /// The name given.
        name: String,
        /// The most similar name in the library.
        nearest: Option<&'static str>,
        /// All names, separated by commas.
        known: String,
    },
    /// The file can't be read.
    #[error("{path}: reading the model: {source}", path = path.display())]
    Read {
        /// Path of the file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The text is not TOML, or has no valid `kind`.
    #[error("{origin}: the TOML can't be read: {source}")]
    Syntax {
        /// The model's name or file.
        origin: String,
        /// The parser's message, with line and column.
        source: Box<toml::de::Error>,
    },
    /// The text lacks a parameter that the model has.
    #[error("{origin}: the text has no {parameter}")]
    NoParameter {
        /// The model's name or file.
        origin: String,
        /// Path of the parameter.
        parameter: String,
    },
    /// The parameters of a flash drive are invalid.
    #[error("{origin}: {source}")]
    Flash {
        /// The model's name or file.
        origin: String,
        /// The parameter's error.
        source: ParameterError,
    },
    /// The parameters of a magnetic disk are invalid.
    #[error("{origin}: {source}")]
    Disk {
        /// The model's name or file.
        origin: String,
        /// The parameter's error.
        source: DiskError,
    },
    /// The parameters of an array are invalid.
    #[error("{origin}: {source}")]
    Array {
        /// The model's name or file.
        origin: String,
        /// The parameter's error.
        source: ArrayError,
    },
    /// A member of an array is an array itself.
    #[error("{origin}: its member {member:?} is an array; members are single drives")]
    NestedArray {
        /// The array's name or file.
        origin: String,
        /// Name or file of the member.
        member: String,
    },
    /// A capacity was given for a model whose capacity is fixed.
    #[error(
        "{origin} is no flash drive, and only those can be had with another capacity; leave out capacity="
    )]
    FixedCapacity {
        /// The model's name or file.
        origin: String,
    },
    /// A file holds no usable state.
    #[error("the state {path}: {source}", path = path.display())]
    StateFile {
        /// Path of the file.
        path: PathBuf,
        /// The error in its contents.
        source: Box<StateFileError>,
    },
    /// A state belongs to another model.
    #[error(
        "{origin} can't begin in a state of {state_of:?}: expected one that `nandle models age {origin}` wrote"
    )]
    OtherState {
        /// The model's name or file.
        origin: String,
        /// Model of the state.
        state_of: String,
    },
    /// A state was requested of a model that doesn't age.
    #[error(
        "{origin} has no flash in it, so nothing of it ages; only flash drives and arrays of them have a state to keep"
    )]
    Ageless {
        /// The model's name or file.
        origin: String,
    },
    /// The drive can't be put into its first state.
    #[error(transparent)]
    State(#[from] StateError),
}

impl ModelError {
    pub(super) fn unknown(name: &str) -> Self {
        let nearest = nearest(name, super::names());
        Self::Unknown { name: name.into(), nearest, known: super::names().collect::<Vec<_>>().join(", ") }
    }

    /// The model's name or file, if the error's text begins with it and a colon.
    pub fn origin(&self) -> Option<String> {
        match self {
            Self::Read { path, .. } => Some(path.display().to_string()),
            Self::Syntax { origin, .. }
            | Self::NoParameter { origin, .. }
            | Self::Flash { origin, .. }
            | Self::Disk { origin, .. }
            | Self::Array { origin, .. }
            | Self::NestedArray { origin, .. } => Some(origin.clone()),
            _ => None,
        }
    }

    pub(super) fn flash(origin: &str, source: ParameterError) -> Self {
        Self::Flash { origin: origin.into(), source }
    }

    pub(super) fn disk(origin: &str, source: DiskError) -> Self {
        Self::Disk { origin: origin.into(), source }
    }

    pub(super) fn array(origin: &str, source: ArrayError) -> Self {
        Self::Array { origin: origin.into(), source }
    }
}

/// Most similar name: the first that begins with `name`, else the closest by Jaro-Winkler. Hyphens
/// are ignored, since they are easily forgotten. `None` if no name is similar.
fn nearest(name: &str, names: impl Iterator<Item = &'static str>) -> Option<&'static str> {
    /// Below this, two names share hardly more than their length.
    const LIKENESS_MIN: f64 = 0.7;
    let names: Vec<_> = names.collect();
    let plain = |name: &str| name.replace(['-', '_', ' '], "").to_lowercase();
    let wanted = plain(name);
    let begins = |known: &&str| !wanted.is_empty() && plain(known).starts_with(&wanted);
    let likeness = |known: &str| strsim::jaro_winkler(&plain(known), &wanted);
    let alike = names.iter().map(|known| (likeness(known), *known)).filter(|(like, _)| *like >= LIKENESS_MIN);
    let most_alike = alike.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, known)| known);
    names.into_iter().find(begins).or(most_alike)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_suggested_only_if_it_is_alike() {
        let suggested = |name| nearest(name, crate::library::names());
        assert_eq!(suggested("x25m"), Some("x25-m-g2"));
        assert_eq!(suggested("x25-m-g3"), Some("x25-m-g2"));
        assert_eq!(suggested("mtron"), Some("mtron-16"));
        assert_eq!([suggested("foo"), suggested("")], [None, None]);
    }
}
