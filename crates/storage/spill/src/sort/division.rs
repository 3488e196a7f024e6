//! Division of the memory while rows are pushed.
//!
//! ```text
//! │ lists of runs (a sixteenth) │ for each sorter: write buffers │ rows being pushed │ rows being written │
//! ```
//!
//! A single sorter accepts rows while it writes others, so it has two workspaces. In a parallel
//! sort, some sorters write while others accept rows, so each has one workspace for both. Sorters
//! that reduce rows have two, and move the rows from one to the other. Once all rows have been
//! pushed, the memory for rows is used for merging.

use nandle_io::buffer::GRAIN_BYTES;

use super::options::SortOptions;
use crate::costs::WriteMemory;
use crate::{Budget, SpillError};

/// Divisor of the memory that limits the write buffers of all sorters.
const WRITE_BUFFER_PART: usize = 12;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MemoryDivision {
    pub(super) sorters: usize,
    /// Workspaces of each sorter.
    workspaces: usize,
    pub(super) workspace_bytes: usize,
    /// Write buffers of each sorter.
    pub(super) writes: WriteMemory,
    /// Memory for lists of runs, in bytes. Runs are merged before their lists exceed it.
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
                purpose: "sorting with clusters of this size and this number of threads",
                needed_bytes: 2 * needed_bytes as u64,
                budget_bytes: budget_bytes as u64,
            });
        }
        Ok(Self { sorters, workspaces, workspace_bytes, writes, lists_bytes })
    }

    /// Returns true if a sorter can accept rows while it writes others.
    pub(super) fn has_another(&self) -> bool {
        self.workspaces > 1
    }

    /// Returns true if a sorter keeps its row memory while it is empty, so that others don't
    /// fragment it.
    pub(super) fn keeps_memory(&self) -> bool {
        self.sorters > 1 && self.workspaces == 1
    }

    /// Memory for merging in a sorter without rows in memory, in bytes.
    pub(super) fn merge_bytes(&self, budget: &Budget) -> usize {
        if self.sorters == 1 {
            budget.free_bytes()
        } else {
            budget.free_bytes().min(self.workspaces * self.workspace_bytes)
        }
    }
}
