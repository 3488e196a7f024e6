//! Errors in a drive's parameters.

/// Reasons why parameters are refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ParameterError {
    /// The text is not TOML, or a field is missing, unknown or of a wrong type.
    #[error("the drive's TOML can't be read: {source}")]
    Syntax {
        /// The parser's message, with line and column.
        source: Box<toml::de::Error>,
    },
    /// A field's value is outside its range.
    #[error("{field} is {got}, but must be between {least} and {most}: the nearest right value is {nearest}")]
    OutOfRange {
        /// Path of the field in the TOML file.
        field: &'static str,
        /// The value given.
        got: f64,
        /// Least valid value.
        least: f64,
        /// Greatest valid value.
        most: f64,
        /// Nearest valid value.
        nearest: f64,
    },
    /// A size is not a multiple of another one.
    #[error(
        "{field} is {got}, but must be a multiple of {of} ({unit_bytes}): the nearest right value is {nearest}"
    )]
    NotAMultiple {
        /// Path of the field in the TOML file.
        field: &'static str,
        /// The value given.
        got: u64,
        /// Path of the field that it must be a multiple of.
        of: &'static str,
        /// That field's value.
        unit_bytes: u64,
        /// Nearest valid value.
        nearest: u64,
    },
}
