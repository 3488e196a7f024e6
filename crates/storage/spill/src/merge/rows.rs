use std::sync::Arc;

use super::Merge;
use crate::budget::Grant;
use crate::rows::Row;
use crate::sort::Workspace;
use crate::{Budget, Combine, SpillError};

const PURPOSE: &str = "combining rows";

/// The rows of a merge, those with equal keys combined where that is wanted.
pub(crate) struct Rows {
    merge: Merge,
    combine: Option<Arc<dyn Combine>>,
    /// What may still be taken.
    limit: u64,
    combined: Combined,
}

struct Combined {
    /// Of the key and the payload.
    grant: Grant,
    key: Vec<u8>,
    payload: Vec<u8>,
    /// The merge is at a row that hasn't been taken.
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
        let combined = Combined { grant, key, payload, has_next: false, has_begun: false };
        Ok(Self { merge, combine, limit, combined })
    }

    /// The memory of rows that were in one.
    pub(crate) fn into_workspace(self) -> Option<Workspace> {
        self.merge.into_workspace()
    }

    pub(crate) fn read_requests(&self) -> u64 {
        self.merge.read_requests()
    }

    /// The next row; none at the end.
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

impl Combined {
    fn count(&mut self) -> Result<(), SpillError> {
        let bytes = self.key.capacity() + self.payload.capacity();
        if bytes == self.grant.bytes() { Ok(()) } else { self.grant.resize(PURPOSE, bytes) }
    }
}

/// Without room to grow: what a merge keeps free for this is the longest row twice.
fn replace(into: &mut Vec<u8>, from: &[u8]) {
    into.clear();
    into.reserve_exact(from.len());
    into.extend_from_slice(from);
}
