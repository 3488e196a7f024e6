//! The drives and arrays that come with the crate, and the loader that they share with one's own: a TOML file whose
//! `kind` says what it describes.

mod build;
mod error;
mod files;
mod kind;
pub mod limits;
mod model;
mod scaled;
mod state;

pub use error::ModelError;
pub use kind::ModelKind;
pub use model::{Model, ModelFacts, Parameters};
pub use scaled::{CacheChange, ScaledModel};
pub use state::{DeviceState, FirstState, StateFileError};

use crate::array::ArrayParameters;
use crate::disk::DiskParameters;
use crate::flash::FlashParameters;
use files::FILES;

/// The names of all drives and arrays.
pub fn names() -> impl Iterator<Item = &'static str> {
    FILES.iter().map(|(name, _)| *name)
}

/// The TOML text of a drive or an array, comments with the sources of its parameters included.
///
/// # Errors
/// [`ModelError::Unknown`] names the nearest name there is.
pub fn toml_of(name: &str) -> Result<&'static str, ModelError> {
    let found = FILES.iter().find(|(known, _)| *known == name);
    found.map(|(_, text)| *text).ok_or_else(|| ModelError::unknown(name))
}

/// The parameters of a flash drive of the library.
///
/// # Errors
/// There is no such drive, or it is of another kind.
pub fn flash(name: &str) -> Result<FlashParameters, ModelError> {
    FlashParameters::from_toml(toml_of(name)?).map_err(|source| ModelError::flash(name, source))
}

/// The parameters of a magnetic disk of the library.
///
/// # Errors
/// There is no such disk, or it is of another kind.
pub fn disk(name: &str) -> Result<DiskParameters, ModelError> {
    DiskParameters::from_toml(toml_of(name)?).map_err(|source| ModelError::disk(name, source))
}

/// The parameters of an array of the library.
///
/// # Errors
/// There is no such array, or it is of another kind.
pub fn array(name: &str) -> Result<ArrayParameters, ModelError> {
    ArrayParameters::from_toml(toml_of(name)?).map_err(|source| ModelError::array(name, source))
}
