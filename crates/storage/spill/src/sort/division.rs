//! What of the memory is for what, while rows are taken.
//!
//! ```text
//! │ lists of runs (a sixteenth) │ of each sorter: write buffers │ rows that come │ rows that are being written │
//! ```
//!
//! A sorter that is alone takes rows while it writes others; one of several writes while others take rows, and has one workspace for
//! both. Where rows become fewer each has two, from one into the other. When all rows have come, what rows took is for merging.

use nandle_io::buffer::GRAIN_BYTES;

use super::options::SortOptions;
use crate::costs::WriteMemory;
use crate::{Budget, SpillError};

/// All write buffers of a kind are at most such a part of the memory.
const WRITE_BUFFER_PART: usize = 12;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MemoryDivision {
    pub(super) sorters: usize,
    /// Of each sorter.
    workspaces: usize,
    pub(super) workspace_bytes: usize,
    /// Of each sorter.
    pub(super) writes: WriteMemory,
    /// Runs are merged before their lists are longer than this.
    pub(super) lists_bytes: usize,
}

impl MemoryDivision {
    pub(super) fn of(options: &SortOptions, sorters: usize) -> Result<Self, SpillError> {
        options.costs.check()?;
        let budget_bytes = options.budget.bytes();
        let part = WRITE_BUFFER_PART * sorters;
        let mut writes = options.costs.write_memory(budget_bytes, options.cluster_bytes, part)?;
        writes.buffers = (writes.buffers / sorters).max(2);
        let lists_bytes = budget_bytes / 16;
        let workspaces = if sorters == 1 || options.condenses() { 2 } else { 1 };
        let others_bytes = lists_bytes + sorters * writes.bytes();
        let each_bytes = budget_bytes.saturating_sub(others_bytes) / (sorters * workspaces);
        let workspace_bytes = each_bytes / GRAIN_BYTES * GRAIN_BYTES;
        if workspace_bytes < writes.buffer_bytes {
            let needed_bytes = others_bytes + sorters * workspaces * writes.buffer_bytes;
            return Err(SpillError::Memory {
                purpose: "sorting with clusters of this size by so many threads",
                needed_bytes: 2 * needed_bytes as u64,
                budget_bytes: budget_bytes as u64,
            });
        }
        Ok(Self { sorters, workspaces, workspace_bytes, writes, lists_bytes })
    }

    /// Whether a sorter can take rows while it writes others.
    pub(super) fn has_another(&self) -> bool {
        self.workspaces > 1
    }

    /// Whether a sorter keeps the memory of rows while it has none, so that others don't take a piece of it.
    pub(super) fn keeps_memory(&self) -> bool {
        self.sorters > 1 && self.workspaces == 1
    }

    /// What a sorter with no rows in memory may take for merging.
    pub(super) fn merge_bytes(&self, budget: &Budget) -> usize {
        if self.sorters == 1 {
            budget.free_bytes()
        } else {
            budget.free_bytes().min(self.workspaces * self.workspace_bytes)
        }
    }
}
