//! Merge join of two sorted sources. It writes nothing if both are sorted already. Compared with
//! [`Joiner`](super::Joiner), it shows the duality of sort and hash (Graefe, Linville and Shapiro,
//! *Sort vs. Hash Revisited*, IEEE TKDE 1994).

use std::cmp::Ordering;

use super::sink::Output;
use super::{JoinKind, JoinSink};
use crate::budget::Grant;
use crate::rows::Row;
use crate::{Budget, Sorted, SpillError};

const PURPOSE: &str = "a merge join with all build rows of one key";
const LENGTH_BYTES: usize = size_of::<u64>();

/// Statistics of a merge join.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct MergeJoinReport {
    /// Rows of the build side that were read. Rows behind the last probe key are not read.
    pub build_rows: u64,
    /// Rows of the probe side.
    pub probe_rows: u64,
    /// Rows passed to the sink.
    pub result_rows: u64,
    /// Peak memory of the budget in use, in bytes.
    pub most_used_bytes: usize,
}

/// Joins two sorted sources on equal keys, byte by byte. The result is in key order.
///
/// The sources have their own budgets. `budget` holds the current build row and, for kinds that
/// emit pairs, all build rows with the key of the current probe row.
///
/// # Errors
///
/// The build rows of one key don't fit into memory: the error states a sufficient budget.
/// ([`Joiner`](super::Joiner) doesn't need memory for them.) A source or the sink failed. Rows
/// passed to the sink before an error are correct.
pub async fn merge_join<S: JoinSink>(
    budget: &Budget,
    kind: JoinKind,
    build: &mut Sorted,
    probe: &mut Sorted,
    sink: &mut S,
) -> Result<MergeJoinReport, S::Error> {
    let mut groups = Groups::new(budget, kind, build)?;
    let mut output = Output::new(kind, sink);
    let mut probe_rows = 0;
    while let Some(row) = probe.next().await? {
        probe_rows += 1;
        let matches = groups.seek(row.key).await?;
        match kind {
            JoinKind::Inner | JoinKind::Left if matches => {
                for payload in groups.payloads() {
                    output.pair(Row { key: row.key, payload }, row).await?;
                }
            }
            JoinKind::Semi if matches => output.probe(row).await?,
            JoinKind::Left | JoinKind::Anti if !matches => output.probe(row).await?,
            JoinKind::Inner | JoinKind::Left | JoinKind::Semi | JoinKind::Anti => {}
        }
    }
    let most_used_bytes = budget.most_used_bytes();
    Ok(MergeJoinReport { build_rows: groups.rows, probe_rows, result_rows: output.rows, most_used_bytes })
}

/// Build rows, grouped by key.
struct Groups<'a> {
    budget: &'a Budget,
    source: &'a mut Sorted,
    keeps_payloads: bool,
    /// Rows read from the source.
    rows: u64,
    has_begun: bool,
    /// Key of the current group, if any.
    key: Option<ChargedBytes>,
    /// Payloads of the current group, each preceded by its length.
    payloads: ChargedBytes,
    /// The row that follows the group, if any.
    ahead: NextRow,
}

struct NextRow {
    is_there: bool,
    key: ChargedBytes,
    payload: ChargedBytes,
}

impl<'a> Groups<'a> {
    fn new(budget: &'a Budget, kind: JoinKind, source: &'a mut Sorted) -> Result<Self, SpillError> {
        let ahead =
            NextRow { is_there: false, key: ChargedBytes::new(budget)?, payload: ChargedBytes::new(budget)? };
        let payloads = ChargedBytes::new(budget)?;
        let (keeps_payloads, has_begun) = (kind.returns_pairs(), false);
        Ok(Self { budget, source, keeps_payloads, rows: 0, has_begun, key: None, payloads, ahead })
    }

    /// Advances to the group with `key`, which must not be less than earlier keys. Returns true if
    /// there is such a group.
    async fn seek(&mut self, key: &[u8]) -> Result<bool, SpillError> {
        if self.key.as_ref().is_some_and(|present| present.bytes == key) {
            return Ok(true);
        }
        self.key = None;
        if !std::mem::replace(&mut self.has_begun, true) {
            self.advance().await?;
        }
        while self.ahead.is_there {
            match self.ahead.key.bytes.as_slice().cmp(key) {
                Ordering::Less => self.advance().await?,
                Ordering::Equal => return self.gather().await.map(|()| true),
                Ordering::Greater => break,
            }
        }
        Ok(false)
    }

    /// Reads the next row.
    async fn advance(&mut self) -> Result<(), SpillError> {
        let Self { source, ahead, budget, .. } = self;
        let row = source.next().await?;
        ahead.is_there = row.is_some();
        if let Some(Row { key, payload }) = row {
            self.rows += 1;
            ahead.key.bytes.clear();
            ahead.key.append(budget, key)?;
            ahead.payload.bytes.clear();
            ahead.payload.append(budget, payload)?;
        }
        Ok(())
    }

    /// Collects the group that begins with the row ahead.
    async fn gather(&mut self) -> Result<(), SpillError> {
        let mut key = ChargedBytes::new(self.budget)?;
        key.append(self.budget, &self.ahead.key.bytes)?;
        self.payloads.bytes.clear();
        while self.ahead.is_there && self.ahead.key.bytes == key.bytes {
            if self.keeps_payloads
                && let Err(error) = self.keep_payload()
            {
                return Err(self.too_long(&key.bytes, error).await);
            }
            self.advance().await?;
        }
        self.key = Some(key);
        Ok(())
    }

    fn keep_payload(&mut self) -> Result<(), SpillError> {
        let payload = &self.ahead.payload.bytes;
        self.payloads.append(self.budget, &(payload.len() as u64).to_ne_bytes())?;
        self.payloads.append(self.budget, payload)
    }

    /// Returns `error` with a sufficient budget: counts the rest of the group.
    async fn too_long(&mut self, key: &[u8], error: SpillError) -> SpillError {
        let SpillError::Memory { purpose, budget_bytes, .. } = error else { return error };
        let mut group_bytes = self.payloads.bytes.len() as u64;
        while self.ahead.is_there && self.ahead.key.bytes == key {
            group_bytes += (LENGTH_BYTES + self.ahead.payload.bytes.len()) as u64;
            if let Err(error) = self.advance().await {
                return error;
            }
        }
        let others_bytes = (self.budget.used_bytes() - self.payloads.bytes.capacity()) as u64;
        // A growing vector exists twice while it is copied.
        SpillError::Memory { purpose, needed_bytes: 2 * group_bytes + others_bytes, budget_bytes }
    }

    /// Iterates over the payloads of the current group.
    fn payloads(&self) -> impl Iterator<Item = &[u8]> {
        let mut left = self.payloads.bytes.as_slice();
        std::iter::from_fn(move || {
            let (length, rest) = left.split_first_chunk()?;
            let length = usize::try_from(u64::from_ne_bytes(*length)).ok();
            let Some((payload, rest)) = length.and_then(|length| rest.split_at_checked(length)) else {
                unreachable!("a payload follows its length")
            };
            left = rest;
            Some(payload)
        })
    }
}

/// A vector whose capacity is charged to a budget.
struct ChargedBytes {
    grant: Grant,
    bytes: Vec<u8>,
}

impl ChargedBytes {
    fn new(budget: &Budget) -> Result<Self, SpillError> {
        Ok(Self { grant: budget.count(PURPOSE, 0)?, bytes: Vec::new() })
    }

    fn append(&mut self, budget: &Budget, more: &[u8]) -> Result<(), SpillError> {
        let length = self.bytes.len() + more.len();
        if length > self.bytes.capacity() {
            // The old bytes stay allocated until they are copied. If doubling doesn't fit, grow by
            // the minimum.
            let doubled = length.max(2 * self.bytes.capacity());
            let (grown, grant) = match budget.count(PURPOSE, doubled) {
                Ok(grant) => (doubled, grant),
                Err(_) => (length, budget.count(PURPOSE, length)?),
            };
            let mut bytes = Vec::with_capacity(grown);
            bytes.extend_from_slice(&self.bytes);
            (self.bytes, self.grant) = (bytes, grant);
        }
        self.bytes.extend_from_slice(more);
        Ok(())
    }
}
