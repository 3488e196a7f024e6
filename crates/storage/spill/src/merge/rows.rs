use std::sync::Arc;

use super::Merge;
use crate::budget::Grant;
use crate::rows::Row;
use crate::sort::Workspace;
use crate::{Budget, Combine, SpillError};

const PURPOSE: &str = "combining rows";

/// Rows of a merge. Combines rows with equal keys if asked to.
pub(crate) struct Rows {
    merge: Merge,
    combine: Option<Arc<dyn Combine>>,
    /// Rows that may still be returned.
    limit: u64,
    combined: CombinedRow,
}

struct CombinedRow {
    /// Grant for the key and the payload.
    grant: Grant,
    key: Vec<u8>,
    payload: Vec<u8>,
    /// True if the merge is at a row that hasn't been returned.
    has_next: bool,
    has_begun: bool,
}

impl Rows {
    pub(crate) fn new(
        budget: &Budget,
        merge: Merge,
        combine: Option<Arc<dyn Combine>>,
        limit: u64,
    ) -> Result<Self, SpillError> {
        let grant = budget.count(PURPOSE, 0)?;
        let (key, payload) = (Vec::new(), Vec::new());
        let combined = CombinedRow { grant, key, payload, has_next: false, has_begun: false };
        Ok(Self { merge, combine, limit, combined })
    }

    /// Returns the memory of the rows, if the only source was in memory.
    pub(crate) fn into_workspace(self) -> Option<Workspace> {
        self.merge.into_workspace()
    }

    pub(crate) fn read_requests(&self) -> u64 {
        self.merge.read_requests()
    }

    /// Returns the next row, or none at the end.
    pub(crate) async fn next(&mut self) -> Result<Option<Row<'_>>, SpillError> {
        if self.limit == 0 {
            return Ok(None);
        }
        self.limit -= 1;
        match self.combine.clone() {
            None => Ok(if self.merge.advance().await? { Some(self.merge.row()) } else { None }),
            Some(combine) => self.next_combined(&*combine).await,
        }
    }

    async fn next_combined(&mut self, combine: &dyn Combine) -> Result<Option<Row<'_>>, SpillError> {
        let Self { merge, combined, .. } = self;
        if !std::mem::replace(&mut combined.has_begun, true) {
            combined.has_next = merge.advance().await?;
        }
        if !combined.has_next {
            return Ok(None);
        }
        let Row { key, payload } = merge.row();
        replace(&mut combined.key, key);
        replace(&mut combined.payload, payload);
        combined.count()?;
        loop {
            combined.has_next = merge.advance().await?;
            if !combined.has_next || !merge.is_equal() {
                return Ok(Some(Row { key: &combined.key, payload: &combined.payload }));
            }
            combine.combine(&mut combined.payload, merge.row().payload);
            combined.count()?;
        }
    }
}

impl CombinedRow {
    fn count(&mut self) -> Result<(), SpillError> {
        let bytes = self.key.capacity() + self.payload.capacity();
        if bytes == self.grant.bytes() { Ok(()) } else { self.grant.resize(PURPOSE, bytes) }
    }
}

/// Replaces the contents without spare capacity: the merge reserves just twice the longest row for
/// them.
fn replace(into: &mut Vec<u8>, from: &[u8]) {
    into.clear();
    into.reserve_exact(from.len());
    into.extend_from_slice(from);
}
