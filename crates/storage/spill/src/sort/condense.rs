//! Shrinks the rows in memory: combines equal keys, and drops rows beyond a limit. A result that
//! stays small is never written, however many rows are pushed.

use std::sync::Arc;

use super::options::SortOptions;
use super::runs::of_memory;
use super::workspace::Workspace;
use crate::budget::Grant;
use crate::merge::Rows;
use crate::{Budget, Combine, SpillError};

const PURPOSE: &str = "the last row within the limit";

/// Reduces the rows in memory; see the [module](self).
pub(super) struct Condenser {
    budget: Budget,
    combine: Option<Arc<dyn Combine>>,
    limit: Option<u64>,
    /// Key of the last row within the limit so far.
    cutoff: Option<Vec<u8>>,
    grant: Grant,
}

impl Condenser {
    /// Returns none if the options never reduce rows.
    pub(super) fn of(options: &SortOptions) -> Result<Option<Self>, SpillError> {
        if !options.condenses() {
            return Ok(None);
        }
        let SortOptions { budget, combine, limit, .. } = options;
        let grant = budget.count(PURPOSE, 0)?;
        Ok(Some(Self {
            budget: budget.clone(),
            combine: combine.clone(),
            limit: *limit,
            cutoff: None,
            grant,
        }))
    }

    /// Returns true if a row with this key can't be within the limit.
    pub(super) fn is_beyond(&self, key: &[u8]) -> bool {
        let Some(cutoff) = &self.cutoff else { return self.limit == Some(0) };
        // A row with the cutoff key may have to be combined with the last row.
        cutoff.as_slice() < key || (self.combine.is_none() && cutoff == key)
    }

    /// Sorts the rows, and moves the remaining ones to a new workspace of the same length.
    pub(super) async fn condense(
        &mut self,
        filled: Workspace,
        bytes: usize,
    ) -> Result<Workspace, SpillError> {
        let mut condensed = Workspace::new(&self.budget, bytes)?;
        let limit = self.limit.unwrap_or(u64::MAX);
        let merge = of_memory(vec![filled.into_sorted()]);
        let mut rows = Rows::new(&self.budget, merge, self.combine.clone(), limit)?;
        while let Some(row) = rows.next().await? {
            if !condensed.push(row) {
                return Err(SpillError::Memory {
                    purpose: "rows that grow when combined",
                    needed_bytes: 4 * Workspace::taken_by(row) as u64 + 4 * bytes as u64,
                    budget_bytes: self.budget.bytes() as u64,
                });
            }
        }
        if self.limit == Some(condensed.rows() as u64) {
            let last = condensed.last_pushed().key.to_vec();
            self.grant.resize(PURPOSE, last.capacity())?;
            self.cutoff = Some(last);
        }
        Ok(condensed)
    }
}
