use nandle_io::{ArenaError, IoError};

use crate::FileId;

/// Reads could not be planned or carried out.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadsError {
    /// Costs make no sense.
    #[error("planning reads: expected that {what}, got {got}; measure the device again with `nandle probe`")]
    Costs {
        /// What is expected of them.
        what: &'static str,
        /// What they are.
        got: String,
    },
    /// A want names a file that there isn't.
    #[error("a want of step {step} is in file {}, and there are {files}", file.0)]
    UnknownFile {
        /// The file.
        file: FileId,
        /// The step that wants it.
        step: u32,
        /// How many files there are.
        files: usize,
    },
    /// A want isn't in its file.
    #[error(
        "a want of step {step} covers bytes {offset_bytes} to {end_bytes} of file {}, which has {length_bytes}; it may have been cut short",
        file.0
    )]
    BeyondEnd {
        /// The file.
        file: FileId,
        /// The step that wants it.
        step: u32,
        /// Where it begins.
        offset_bytes: u64,
        /// Where it ends.
        end_bytes: u64,
        /// Where the file ends.
        length_bytes: u64,
    },
    /// What a step needs at once doesn't fit.
    #[error(
        "step {step} needs {needed_bytes} bytes at once, and of the memory {had_bytes} bytes can be used for a step; give at least {memory_bytes} bytes"
    )]
    Memory {
        /// The step.
        step: u32,
        /// What it needs.
        needed_bytes: u64,
        /// What there is for a step.
        had_bytes: u64,
        /// With how much memory it would fit.
        memory_bytes: u64,
    },
    /// A scan was given other files than its plan was made for.
    #[error(
        "a plan of {planned} files was to be carried out on {files} that aren't those; plan again with the files as they are"
    )]
    OtherFiles {
        /// How many it was given.
        files: usize,
        /// How many the plan has.
        planned: usize,
    },
    /// What lies behind the readable part of a file isn't in memory.
    #[error("file {}: {got_bytes} bytes are in memory of the {expected_bytes} behind its last whole block; read them first", file.0)]
    Tail {
        /// The file.
        file: FileId,
        /// What is in memory.
        got_bytes: u64,
        /// What should be.
        expected_bytes: u64,
    },
    /// More requests than a scan can tell apart.
    #[error("the plan has {requests} requests, and a scan takes fewer than {most}; scan in parts")]
    Requests {
        /// How many it has.
        requests: usize,
        /// One more than there may be.
        most: u64,
    },
    /// Steps are numbered too far apart.
    #[error("step {step} is numbered beyond {most}; number steps from 0 on, without gaps")]
    Steps {
        /// The last step.
        step: u32,
        /// The most there may be.
        most: u32,
    },
    /// There is no memory to be had.
    #[error(transparent)]
    Arena(#[from] ArenaError),
    /// A read failed.
    #[error("file {}: {source}", file.0)]
    Io {
        /// The file.
        file: FileId,
        /// Why.
        source: IoError,
    },
    /// What was read isn't what was written.
    #[error("file {}, from offset {offset_bytes} on: {why}", file.0)]
    Damaged {
        /// The file.
        file: FileId,
        /// Where the damage begins, as far as the check can tell.
        offset_bytes: u64,
        /// What the check said.
        why: String,
    },
    /// The consumer keeps what it was handed, and asks for more.
    #[error(
        "step {step} has no memory: steps before it are still held; drop them before asking for the next"
    )]
    Held {
        /// The step that was asked for.
        step: u32,
    },
    /// It failed before.
    #[error("a read of this scan failed before, so it reads no more")]
    Latched,
    /// The scan was stopped.
    #[error("the scan was stopped")]
    Stopped,
    /// The thread that reads is gone.
    #[error("the thread that reads has ended: {why}")]
    OwnerGone {
        /// Why, as far as is known.
        why: String,
    },
}
