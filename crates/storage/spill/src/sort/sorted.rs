use nandle_io::Nanos;

use crate::merge::{MergePlan, Rows};
use crate::rows::Row;
use crate::{Budget, SpillError};

/// What a sort did.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct SortReport {
    /// Rows that were pushed.
    pub rows: u64,
    /// Bytes of their keys and payloads.
    pub row_bytes: u64,
    /// Runs that were written. None: everything stayed in memory.
    pub runs: u64,
    /// Merges before the last one.
    pub merges: u64,
    /// Runs that the last merge joins.
    pub last_fan_in: u64,
    /// What merging was predicted to take, when the first run was written.
    pub predicted: Option<MergePlan>,
    /// Bytes written to the temporary space.
    pub written_bytes: u64,
    /// Writes.
    pub write_requests: u64,
    /// Reads, those of the last merge as far as it has gone.
    pub read_requests: u64,
    /// Bytes of a read.
    pub cluster_bytes: usize,
    /// From the first row to the last run.
    pub run_ns: u64,
    /// Merges before the last one.
    pub merge_ns: u64,
    /// The most memory of the budget that was taken at once, in bytes.
    pub most_used_bytes: usize,
}

/// The rows in their order, one after the other. Dropping it gives memory and temporary space back.
pub struct Sorted {
    rows: Rows,
    report: SortReport,
    budget: Budget,
}

impl Sorted {
    pub(super) fn new(rows: Rows, report: SortReport, budget: Budget) -> Self {
        Self { rows, report, budget }
    }

    /// The next row; none at the end.
    ///
    /// # Errors
    /// The device failed, or gave back what was never written to it. What came before was right.
    pub async fn next(&mut self) -> Result<Option<Row<'_>>, SpillError> {
        self.rows.next().await
    }

    /// What was done so far.
    pub fn report(&self) -> SortReport {
        SortReport {
            read_requests: self.report.read_requests + self.rows.read_requests(),
            most_used_bytes: self.budget.most_used_bytes(),
            ..self.report
        }
    }
}

/// A span of a world's time.
pub(super) fn span_ns(from: Nanos, to: Nanos) -> u64 {
    to.since(from).0
}
