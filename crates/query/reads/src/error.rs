use nandle_io::{ArenaError, IoError};

use crate::FileId;

/// Error while planning or reading.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadsError {
    /// The costs are invalid.
    #[error("planning reads: expected that {what}, got {got}; measure the device again with `nandle probe`")]
    Costs {
        /// Violated condition.
        what: &'static str,
        /// Actual figure.
        got: String,
    },
    /// A want names an unknown file.
    #[error("a want of step {step} is in file {}, and there are {files}", file.0)]
    UnknownFile {
        /// The file.
        file: FileId,
        /// Step of the want.
        step: u32,
        /// Number of files.
        files: usize,
    },
    /// A want lies beyond the end of its file.
    #[error(
        "a want of step {step} covers bytes {offset_bytes} to {end_bytes} of file {}, which has {length_bytes}; it may have been cut short",
        file.0
    )]
    BeyondEnd {
        /// The file.
        file: FileId,
        /// Step of the want.
        step: u32,
        /// Offset of the want.
        offset_bytes: u64,
        /// End of the want.
        end_bytes: u64,
        /// Length of the file.
        length_bytes: u64,
    },
    /// A step doesn't fit in memory.
    #[error(
        "step {step} needs {needed_bytes} bytes at once, and of the memory {had_bytes} bytes can be used for a step; give at least {memory_bytes} bytes"
    )]
    Memory {
        /// The step.
        step: u32,
        /// Memory that the step needs.
        needed_bytes: u64,
        /// Memory available for a step.
        had_bytes: u64,
        /// Total memory with which the step would fit.
        memory_bytes: u64,
    },
    /// A scan received other files than its plan was made for.
    #[error(
        "a plan of {planned} files was to be carried out on {files} that aren't those; plan again with the files as they are"
    )]
    OtherFiles {
        /// Number of files received.
        files: usize,
        /// Number of files in the plan.
        planned: usize,
    },
    /// The part of a file behind its readable blocks isn't in memory.
    #[error("file {}: {got_bytes} bytes are in memory of the {expected_bytes} behind its last whole block; read them first", file.0)]
    Tail {
        /// The file.
        file: FileId,
        /// Bytes in memory.
        got_bytes: u64,
        /// Bytes expected.
        expected_bytes: u64,
    },
    /// A plan has too many requests.
    #[error("the plan has {requests} requests, and a scan takes fewer than {most}; scan in parts")]
    Requests {
        /// Requests of the plan.
        requests: usize,
        /// Exclusive upper limit.
        most: u64,
    },
    /// A step's number is too high.
    #[error("step {step} is numbered beyond {most}; number steps from 0 on, without gaps")]
    Steps {
        /// Number of the last step.
        step: u32,
        /// Greatest allowed number.
        most: u32,
    },
    /// Memory can't be allocated.
    #[error(transparent)]
    Arena(#[from] ArenaError),
    /// A read failed.
    #[error("file {}: {source}", file.0)]
    Io {
        /// The file.
        file: FileId,
        /// The cause.
        source: IoError,
    },
    /// The bytes read differ from those written.
    #[error("file {}, from offset {offset_bytes} on: {why}", file.0)]
    Damaged {
        /// The file.
        file: FileId,
        /// Start of the damage, as far as the check can tell.
        offset_bytes: u64,
        /// Report of the check.
        why: String,
    },
    /// The consumer holds too many steps to receive another.
    #[error(
        "step {step} has no memory: steps before it are still held; drop them before asking for the next"
    )]
    Held {
        /// The requested step.
        step: u32,
    },
    /// An earlier read failed.
    #[error("a read of this scan failed before, so it reads no more")]
    Latched,
    /// The scan was stopped.
    #[error("the scan was stopped")]
    Stopped,
    /// The reading thread has ended.
    #[error("the thread that reads has ended: {why}")]
    OwnerGone {
        /// The cause, as far as it is known.
        why: String,
    },
}
