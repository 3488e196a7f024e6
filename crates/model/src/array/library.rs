//! The arrays that come with the crate, one TOML file each under `arrays/`.

use super::parameters::{ArrayError, ArrayParameters};

/// Name and text of every array.
const ARRAYS: [(&str, &str); 3] = [
    ("x25-m-4", include_str!("../../arrays/x25-m-4.toml")),
    ("x25-e-4-1ctl", include_str!("../../arrays/x25-e-4-1ctl.toml")),
    ("x25-e-4-2ctl", include_str!("../../arrays/x25-e-4-2ctl.toml")),
];

/// The names of the arrays.
pub fn names() -> impl Iterator<Item = &'static str> {
    ARRAYS.iter().map(|(name, _)| *name)
}

/// The TOML text of an array, comments with the sources of its parameters included.
///
/// # Errors
/// [`ArrayError::UnknownArray`] names those there are.
pub fn toml_of(name: &str) -> Result<&'static str, ArrayError> {
    let found = ARRAYS.iter().find(|(array, _)| *array == name);
    let unknown =
        || ArrayError::UnknownArray { name: name.to_owned(), known: names().collect::<Vec<_>>().join(", ") };
    found.map(|(_, text)| *text).ok_or_else(unknown)
}

/// An array's parameters.
///
/// # Errors
/// [`ArrayError::UnknownArray`] names those there are.
pub fn parameters_of(name: &str) -> Result<ArrayParameters, ArrayError> {
    ArrayParameters::from_toml(toml_of(name)?)
}
