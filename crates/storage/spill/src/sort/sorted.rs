use nandle_io::Nanos;

use crate::merge::{MergePlan, Rows};
use crate::rows::Row;
use crate::{Budget, SpillError};

/// Statistics of a sort.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct SortReport {
    /// Rows pushed.
    pub rows: u64,
    /// Bytes of keys and payloads.
    pub row_bytes: u64,
    /// Runs written; 0 if everything stayed in memory.
    pub runs: u64,
    /// Merges before the last one.
    pub merges: u64,
    /// Runs joined by the last merge.
    pub last_fan_in: u64,
    /// Merge plan chosen when the first run was written.
    pub predicted: Option<MergePlan>,
    /// Bytes written to the temporary space.
    pub written_bytes: u64,
    /// Write requests.
    pub write_requests: u64,
    /// Read requests so far, including those of the last merge.
    pub read_requests: u64,
    /// Length of a read, in bytes.
    pub cluster_bytes: usize,
    /// Time from the first row to the last run, in nanoseconds.
    pub run_ns: u64,
    /// Time of the merges before the last one, in nanoseconds.
    pub merge_ns: u64,
    /// Peak memory of the budget in use, in bytes.
    pub most_used_bytes: usize,
}

/// Sorted rows. Dropping this releases memory and temporary space.
pub struct Sorted {
    rows: Rows,
    report: SortReport,
    budget: Budget,
}

impl Sorted {
    pub(super) fn new(rows: Rows, report: SortReport, budget: Budget) -> Self {
        Self { rows, report, budget }
    }

    /// Returns the next row, or none at the end.
    ///
    /// # Errors
    ///
    /// The device failed, or returned other data than was written. Rows returned before are
    /// correct.
    pub async fn next(&mut self) -> Result<Option<Row<'_>>, SpillError> {
        self.rows.next().await
    }

    /// Returns the statistics so far.
    pub fn report(&self) -> SortReport {
        SortReport {
            read_requests: self.report.read_requests + self.rows.read_requests(),
            most_used_bytes: self.budget.most_used_bytes(),
            ..self.report
        }
    }
}

/// Length of a span of the world's time, in nanoseconds.
pub(super) fn span_ns(from: Nanos, to: Nanos) -> u64 {
    to.since(from).0
}
