//! Recordings of what queries need: which stretches of which files, step by step, and how long each step computed. No data, and nothing
//! of how it was read, so that the same recording can be played on another device, by another plan, in another memory.

mod error;
mod format;
mod reader;
mod recorder;
mod rules;

pub use error::{RecordError, RecordingError};
pub use format::{RECORDING_FILE_SUFFIX, RECORDING_VERSION};
pub use recorder::{Names, Recorder};
pub use rules::{RecordingCounts, Violation};

use crate::{Groups, Want};

/// A recording, in memory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recording {
    /// The files that wants refer to, by [`FileId`](crate::FileId).
    pub files: Vec<RecordedFile>,
    /// The queries, in the order in which they ran.
    pub queries: Vec<RecordedQuery>,
}

/// A file of a recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedFile {
    /// As its reader called it; `None` in an anonymous recording.
    pub name: Option<String>,
    /// Its length.
    pub length_bytes: u64,
    /// What of it lies together, so that plans by group can be played.
    pub groups: Groups,
}

/// What a query needed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecordedQuery {
    /// What it is called; `None` in an anonymous recording.
    pub name: Option<String>,
    /// What was asked, as SQL or options of a command; `None` if that wasn't said, and in an anonymous recording.
    pub text: Option<String>,
    /// All wants. Their steps never decrease, and each is a step of `cpu_after_ns`.
    pub wants: Vec<Want>,
    /// For each step the processor time that the query computed after it had the step's bytes, in nanoseconds. A step without wants
    /// is computing alone.
    pub cpu_after_ns: Vec<u64>,
    /// What else it did.
    pub totals: QueryTotals,
}

/// What a query did beside reading its files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct QueryTotals {
    /// Bytes of temporary data written.
    pub spilled_bytes: u64,
    /// Bytes of temporary data read back.
    pub spill_read_bytes: u64,
    /// Rows of its result.
    pub result_rows: u64,
    /// How long it took where it was recorded, with all that was done with its rows, in nanoseconds; `None` if that wasn't said.
    pub took_ns: Option<u64>,
}

impl RecordedQuery {
    /// Bytes of all wants; what two of them share counts twice.
    pub fn bytes_wanted(&self) -> u64 {
        self.wants.iter().fold(0, |sum, want| sum.saturating_add(want.length_bytes))
    }

    /// Processor time of all steps, in nanoseconds.
    pub fn cpu_ns(&self) -> u64 {
        self.cpu_after_ns.iter().fold(0, |sum, span| sum.saturating_add(*span))
    }
}
