//! Errors in a drive's parameters.

/// Reasons why a disk can't be built from its parameters.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DiskError {
    /// The text is no valid parameter file.
    #[error("reading the disk parameters: {source}")]
    Parse {
        /// The parser's message, with line and column.
        #[from]
        source: toml::de::Error,
    },
    /// A figure is outside the model's range.
    #[error(
        "{field} is {got}, but must lie within {lowest} to {highest}; the nearest right value is {nearest}"
    )]
    OutOfRange {
        /// Name of the drive.
        drive: String,
        /// The parameter, as a path in the parameter file.
        field: String,
        /// The value given.
        got: f64,
        /// Least valid value.
        lowest: f64,
        /// Greatest valid value.
        highest: f64,
        /// Nearest valid value.
        nearest: f64,
    },
    /// Parameters contradict each other.
    #[error("{field} {problem}")]
    Inconsistent {
        /// Name of the drive.
        drive: String,
        /// The parameter, as a path in the parameter file.
        field: String,
        /// The problem and its solution.
        problem: String,
    },
}
