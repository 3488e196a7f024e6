use std::io;
use std::sync::Arc;

use nandle_units::format_bytes;

/// Error of reading an Arrow IPC file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArrowFileError {
    /// An I/O operation failed.
    #[error("reading {file}: {source}")]
    Read {
        /// The file.
        file: Arc<str>,
        /// The cause.
        source: io::Error,
    },
    /// The file is damaged or isn't an IPC file.
    #[error("{file}, message {message}: {why}; the file is damaged or cut, so make it anew")]
    Damaged {
        /// The file.
        file: Arc<str>,
        /// Number of the message, from 1; 0 before the first.
        message: u64,
        /// The problem.
        why: String,
    },
    /// A batch exceeds the memory limit.
    #[error(
        "{file}, message {message}: it takes {} of memory, and no batch may take more than {}; write the file in batches of fewer rows",
        format_bytes(*bytes),
        format_bytes(*max_bytes)
    )]
    TooLarge {
        /// The file.
        file: Arc<str>,
        /// Number of the message, from 1.
        message: u64,
        /// Memory needed.
        bytes: u64,
        /// Limit.
        max_bytes: u64,
    },
}
