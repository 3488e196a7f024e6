//! The drives and arrays that come with the crate, and the loader, which also reads users' files:
//! TOML whose `kind` determines the rest.

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

/// Names of all drives and arrays.
pub fn names() -> impl Iterator<Item = &'static str> {
    FILES.iter().map(|(name, _)| *name)
}

/// TOML text of a drive or an array. Its comments cite the sources of the parameters.
///
/// # Errors
/// [`ModelError::Unknown`] with the most similar name.
pub fn toml_of(name: &str) -> Result<&'static str, ModelError> {
    let found = FILES.iter().find(|(known, _)| *known == name);
    found.map(|(_, text)| *text).ok_or_else(|| ModelError::unknown(name))
}

/// Parameters of a flash drive in the library.
///
/// # Errors
/// Fails if there is no such drive, or it is of another kind.
pub fn flash(name: &str) -> Result<FlashParameters, ModelError> {
    FlashParameters::from_toml(toml_of(name)?).map_err(|source| ModelError::flash(name, source))
}

/// Parameters of a magnetic disk in the library.
///
/// # Errors
/// Fails if there is no such disk, or it is of another kind.
pub fn disk(name: &str) -> Result<DiskParameters, ModelError> {
    DiskParameters::from_toml(toml_of(name)?).map_err(|source| ModelError::disk(name, source))
}

/// Parameters of an array in the library.
///
/// # Errors
/// Fails if there is no such array, or it is of another kind.
pub fn array(name: &str) -> Result<ArrayParameters, ModelError> {
    ArrayParameters::from_toml(toml_of(name)?).map_err(|source| ModelError::array(name, source))
}
