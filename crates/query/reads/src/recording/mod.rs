//! Recordings of the reads that queries need: byte ranges of files for each step, and the processor
//! time of each step. They contain no data and no physical reads, so a recording can be replayed
//! with another device, plan or memory.

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
    /// Files of the wants, by [`FileId`](crate::FileId).
    pub files: Vec<RecordedFile>,
    /// Queries, in the order in which they ran.
    pub queries: Vec<RecordedQuery>,
}

/// A file of a recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedFile {
    /// Name of the file; `None` in an anonymous recording.
    pub name: Option<String>,
    /// Length of the file.
    pub length_bytes: u64,
    /// Groups of the file, so that plans by group can be replayed.
    pub groups: Groups,
}

/// Reads and work of a query.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecordedQuery {
    /// Name of the query; `None` in an anonymous recording.
    pub name: Option<String>,
    /// SQL text or command options; `None` if not given, and in an anonymous recording.
    pub text: Option<String>,
    /// All wants, in ascending order of their steps. Each step is an index of `cpu_after_ns`.
    pub wants: Vec<Want>,
    /// For each step, the processor time after its bytes arrived, in nanoseconds. A step without
    /// wants only computes.
    pub cpu_after_ns: Vec<u64>,
    /// Other figures of the query.
    pub totals: QueryTotals,
}

/// Figures of a query besides its file reads.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct QueryTotals {
    /// Bytes of temporary data written.
    pub spilled_bytes: u64,
    /// Bytes of temporary data read back.
    pub spill_read_bytes: u64,
    /// Rows of its result.
    pub result_rows: u64,
    /// Duration of the query where it was recorded, including the use of its rows, in nanoseconds;
    /// `None` if unknown.
    pub took_ns: Option<u64>,
}

impl RecordedQuery {
    /// Bytes of all wants; shared bytes count for each.
    pub fn bytes_wanted(&self) -> u64 {
        self.wants.iter().fold(0, |sum, want| sum.saturating_add(want.length_bytes))
    }

    /// Processor time of all steps, in nanoseconds.
    pub fn cpu_ns(&self) -> u64 {
        self.cpu_after_ns.iter().fold(0, |sum, span| sum.saturating_add(*span))
    }
}
