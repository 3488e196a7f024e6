use std::io;
use std::sync::Arc;

use nandle_units::format_bytes;

/// An Arrow IPC file can't be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArrowFileError {
    /// The system refused.
    #[error("reading {file}: {source}")]
    Read {
        /// The file.
        file: Arc<str>,
        /// What the system said.
        source: io::Error,
    },
    /// It isn't what a writer of such files has written.
    #[error("{file}, message {message}: {why}; the file is damaged or cut, so make it anew")]
    Damaged {
        /// The file.
        file: Arc<str>,
        /// The number of the message, from 1 on; 0: before the first.
        message: u64,
        /// What is wrong with it.
        why: String,
    },
    /// A batch takes more memory than one may.
    #[error(
        "{file}, message {message}: it takes {} of memory, and no batch may take more than {}; write the file in batches of fewer rows",
        format_bytes(*bytes),
        format_bytes(*max_bytes)
    )]
    TooLarge {
        /// The file.
        file: Arc<str>,
        /// The number of the message, from 1 on.
        message: u64,
        /// What it takes.
        bytes: u64,
        /// What it may take.
        max_bytes: u64,
    },
}
