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
use crate::costs::WriteMemory;

/// A write buffer is at most such a part of the memory.
const WRITE_BUFFER_PART: usize = 12;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Division {
    /// Of each of the two.
    pub(super) workspace_bytes: usize,
    pub(super) writes: WriteMemory,
    /// Runs are merged before their lists are longer than this.
    pub(super) lists_bytes: usize,
}

impl Division {
    pub(super) fn of(options: &SortOptions) -> Result<Self, SpillError> {
        let budget_bytes = options.budget.bytes();
        let writes = options.costs.write_memory(budget_bytes, options.cluster_bytes, WRITE_BUFFER_PART)?;
        let lists_bytes = budget_bytes / 16;
        let others_bytes = lists_bytes + writes.bytes();
        let workspace_bytes = budget_bytes.saturating_sub(others_bytes) / 2 / GRAIN_BYTES * GRAIN_BYTES;
        if workspace_bytes < writes.buffer_bytes {
            return Err(SpillError::Memory {
                purpose: "sorting with clusters of this size",
                needed_bytes: (2 * (others_bytes + 2 * writes.buffer_bytes)) as u64,
                budget_bytes: budget_bytes as u64,
            });
        }
        Ok(Self { workspace_bytes, writes, lists_bytes })
    }
}
