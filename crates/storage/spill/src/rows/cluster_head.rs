//! # Header in front of the rows of a run's cluster
//!
//! ```text
//! byte   0  u32  offset in the body of the first row that begins in this cluster; 2³² − 1 if none does
//!        4  u64  rows of the stream before that row
//!       12  u64  bytes of their keys
//!       20  u64  bytes of their payloads
//!       28       rows, or parts of them
//! ```
//!
//! Integers are little-endian. The header makes it possible to start reading at any cluster, with
//! the number of rows and bytes before it known.

/// Length of the header, in bytes.
pub(crate) const CLUSTER_HEAD_BYTES: usize = 28;
const NONE: u32 = u32::MAX;

/// Number of rows and their lengths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Totals {
    pub(crate) rows: u64,
    pub(crate) key_bytes: u64,
    pub(crate) payload_bytes: u64,
}

impl Totals {
    pub(crate) fn add(&mut self, key_bytes: usize, payload_bytes: usize) {
        *self = self.plus(Self { rows: 1, key_bytes: key_bytes as u64, payload_bytes: payload_bytes as u64 });
    }

    pub(crate) fn plus(self, more: Self) -> Self {
        Self {
            rows: self.rows + more.rows,
            key_bytes: self.key_bytes + more.key_bytes,
            payload_bytes: self.payload_bytes + more.payload_bytes,
        }
    }

    /// Subtracts the totals of a subset.
    pub(crate) fn minus(self, less: Self) -> Self {
        debug_assert!(less.rows <= self.rows, "{less:?} is not a subset of {self:?}");
        Self {
            rows: self.rows - less.rows,
            key_bytes: self.key_bytes - less.key_bytes,
            payload_bytes: self.payload_bytes - less.payload_bytes,
        }
    }
}

/// Header of a cluster; see the [module](self).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ClusterHead {
    /// Offset of the first row; none if no row begins here.
    pub(crate) first_row: Option<u32>,
    pub(crate) before: Totals,
}

impl ClusterHead {
    /// Writes the header to the beginning of a body.
    pub(crate) fn encode(self, body: &mut [u8]) {
        let Totals { rows, key_bytes, payload_bytes } = self.before;
        let Some((into, _)) = body.split_first_chunk_mut::<CLUSTER_HEAD_BYTES>() else {
            unreachable!("a cluster is longer than its header")
        };
        let (first, counts) = into.split_at_mut(size_of::<u32>());
        first.copy_from_slice(&self.first_row.unwrap_or(NONE).to_le_bytes());
        for (into, count) in counts.chunks_exact_mut(size_of::<u64>()).zip([rows, key_bytes, payload_bytes]) {
            into.copy_from_slice(&count.to_le_bytes());
        }
    }

    /// Reads the header from the used part of a body.
    pub(crate) fn decode(body: &[u8]) -> Result<Self, &'static str> {
        let Some((head, _)) = body.split_first_chunk::<CLUSTER_HEAD_BYTES>() else {
            return Err("it is too short for a run's cluster");
        };
        let (first, counts) = head.split_at(size_of::<u32>());
        let first = first.first_chunk().map_or(NONE, |bytes| u32::from_le_bytes(*bytes));
        let mut counts = counts.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes));
        let mut next = || counts.next().unwrap_or_default();
        let before = Totals { rows: next(), key_bytes: next(), payload_bytes: next() };
        if first != NONE && !(CLUSTER_HEAD_BYTES..body.len()).contains(&(first as usize)) {
            return Err("its first row lies outside of it");
        }
        Ok(Self { first_row: (first != NONE).then_some(first), before })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_round_trips() {
        let before = Totals { rows: 3, key_bytes: 1 << 40, payload_bytes: 7 };
        let mut body = [0; 100];
        for first_row in [None, Some(28), Some(99)] {
            let head = ClusterHead { first_row, before };
            head.encode(&mut body);
            assert_eq!(ClusterHead::decode(&body), Ok(head));
        }
        for first_row in [0, 27, 100] {
            ClusterHead { first_row: Some(first_row), before }.encode(&mut body);
            assert!(ClusterHead::decode(&body).is_err(), "{first_row}");
        }
        assert!(ClusterHead::decode(&body[..20]).is_err());
    }
}
