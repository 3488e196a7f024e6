//! The flash drives that come with the crate, one TOML file each under `drives/`.

use super::parameters::{FlashParameters, ParameterError};

/// Name and text of every drive.
const DRIVES: [(&str, &str); 8] = [
    ("x25-m-g2", include_str!("../../drives/x25-m-g2.toml")),
    ("x25-e-64", include_str!("../../drives/x25-e-64.toml")),
    ("mtron-16", include_str!("../../drives/mtron-16.toml")),
    ("crucial-m4-256", include_str!("../../drives/crucial-m4-256.toml")),
    ("samsung-mcaqe32", include_str!("../../drives/samsung-mcaqe32.toml")),
    ("sd-card", include_str!("../../drives/sd-card.toml")),
    ("nvme-tlc", include_str!("../../drives/nvme-tlc.toml")),
    ("nvme-plp", include_str!("../../drives/nvme-plp.toml")),
];

/// The names of the drives.
pub fn names() -> impl Iterator<Item = &'static str> {
    DRIVES.iter().map(|(name, _)| *name)
}

/// The TOML text of a drive, comments with the sources of its parameters included.
///
/// # Errors
/// [`ParameterError::UnknownDrive`] names the nearest name there is.
pub fn toml_of(name: &str) -> Result<&'static str, ParameterError> {
    let found = DRIVES.iter().find(|(drive, _)| *drive == name);
    found.map(|(_, text)| *text).ok_or_else(|| unknown(name))
}

/// A drive's parameters.
///
/// # Errors
/// [`ParameterError::UnknownDrive`] names the nearest name there is.
pub fn parameters_of(name: &str) -> Result<FlashParameters, ParameterError> {
    FlashParameters::from_toml(toml_of(name)?)
}

fn unknown(name: &str) -> ParameterError {
    let common = |drive: &str| drive.chars().filter(|letter| name.contains(*letter)).count();
    let prefix = |drive: &str| drive.chars().zip(name.chars()).take_while(|(a, b)| a == b).count();
    let nearest = names().max_by_key(|drive| (prefix(drive), common(drive))).unwrap_or_default();
    ParameterError::UnknownDrive { name: name.to_owned(), nearest }
}
