//! What can be wrong with a drive's parameters.

/// Why a disk could not be built from its parameters.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DiskError {
    /// The text is not a parameter file.
    #[error("reading the disk parameters: {source}")]
    Parse {
        /// What the TOML reader says, with line and column.
        #[from]
        source: toml::de::Error,
    },
    /// A figure is outside of what the model can work with.
    #[error(
        "{field} is {got}, but must lie within {lowest} to {highest}; the nearest right value is {nearest}"
    )]
    OutOfRange {
        /// The drive's name as its parameters give it.
        drive: String,
        /// The parameter, as a path in the parameter file.
        field: String,
        /// What the parameter is.
        got: f64,
        /// The least right value.
        lowest: f64,
        /// The greatest right value.
        highest: f64,
        /// The right value next to `got`.
        nearest: f64,
    },
    /// Parameters contradict each other.
    #[error("{field} {problem}")]
    Inconsistent {
        /// The drive's name as its parameters give it.
        drive: String,
        /// The parameter, as a path in the parameter file.
        field: String,
        /// What is wrong and what would be right.
        problem: String,
    },
}
