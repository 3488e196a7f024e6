//! What of the memory is for what, while rows are taken.
//!
//! ```text
//! │ write buffers (at most a sixth) │ rows that come │ rows that are being written │ lists of runs (a sixteenth) │
//! ```
//!
//! When all rows have come, what rows took is for merging.

use nandle_io::buffer::GRAIN_BYTES;

use super::options::SortOptions;
use crate::SpillError;
use crate::error::check_cluster;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Division {
    /// Of each of the two.
    pub(super) workspace_bytes: usize,
    pub(super) write_buffer_bytes: usize,
    pub(super) write_buffers: usize,
    /// Runs are merged before their lists are longer than this.
    pub(super) lists_bytes: usize,
}

impl Division {
    pub(super) fn of(options: &SortOptions) -> Result<Self, SpillError> {
        let budget_bytes = options.budget.bytes();
        check_cluster(options.cluster_bytes, budget_bytes)?;
        let costs = &options.costs;
        let largest = costs.random_reads.iter().map(|cost| cost.request_bytes).max().unwrap_or_default();
        let wanted = costs.write_request_bytes.max(largest).min(budget_bytes / 12);
        let write_buffer_bytes = wanted.max(options.cluster_bytes.unwrap_or_default()).max(1);
        let write_buffer_bytes = write_buffer_bytes.next_multiple_of(GRAIN_BYTES);
        let most = costs.writes_outstanding.max(2);
        let write_buffers = (budget_bytes / 8 / write_buffer_bytes).clamp(2, most);
        let lists_bytes = budget_bytes / 16;
        let others_bytes = lists_bytes + write_buffers * write_buffer_bytes;
        let workspace_bytes = budget_bytes.saturating_sub(others_bytes) / 2 / GRAIN_BYTES * GRAIN_BYTES;
        if workspace_bytes < write_buffer_bytes {
            return Err(SpillError::Memory {
                purpose: "sorting with clusters of this size",
                needed_bytes: (2 * (others_bytes + 2 * write_buffer_bytes)) as u64,
                budget_bytes: budget_bytes as u64,
            });
        }
        Ok(Self { workspace_bytes, write_buffer_bytes, write_buffers, lists_bytes })
    }
}
