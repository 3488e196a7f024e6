use super::MemoryRows;
use super::runs::Edges;
use super::workspace::Workspace;

/// Sorted rows of a full workspace, ready to become a run.
pub(super) struct PendingRun {
    rows: MemoryRows,
    pub(super) row_bytes_max: usize,
}

impl PendingRun {
    pub(super) fn new(workspace: Workspace) -> Self {
        let row_bytes_max = workspace.row_bytes_max;
        Self { rows: workspace.into_sorted(), row_bytes_max }
    }

    pub(super) fn into_rows(self) -> MemoryRows {
        self.rows
    }

    pub(super) fn row_bytes(&self) -> u64 {
        self.rows.workspace().row_bytes()
    }

    /// Prefix that all keys share.
    pub(super) fn common(&self) -> &[u8] {
        self.rows.workspace().common()
    }

    /// Returns the first and last key, or none if together they exceed `bytes_max`.
    pub(super) fn edges(&self, bytes_max: usize) -> Option<Box<Edges>> {
        let workspace = self.rows.workspace();
        debug_assert!(!workspace.is_empty(), "a run has a row");
        let [first, last] = [0, workspace.rows() - 1].map(|row| workspace.sorted_row(row).key);
        let are_short = first.len() + last.len() <= bytes_max;
        are_short.then(|| Box::new(Edges { first: first.to_vec(), last: last.to_vec() }))
    }
}
