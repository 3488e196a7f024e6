//! Decoder of a run's byte stream.

use std::ops::Range;

use nandle_io::BufferMut;

use super::cluster_head::{CLUSTER_HEAD_BYTES, ClusterHead};
use super::code::Code;
use super::encoding::{HEAD_BYTES_MAX, Head};
use super::{Row, common_prefix};
use crate::space::cluster::HEADER_BYTES;

/// Decodes the rows of a run, cluster by cluster. It does no I/O, but requests each cluster from
/// its caller.
pub(crate) struct RunReader {
    rows_left: u64,
    /// Leading rows that are decoded but not returned.
    skipped: u64,
    has_begun: bool,
    cluster: Option<Cluster>,
    /// A row that crosses clusters.
    split: SplitRow,
    key: Vec<u8>,
    code: Code,
    payload: Payload,
    is_first: bool,
}

struct Cluster {
    buffer: BufferMut,
    at: usize,
    end: usize,
}

struct SplitRow {
    bytes: Vec<u8>,
    /// True once the row is complete and is the current row.
    is_done: bool,
}

enum Payload {
    InCluster(Range<usize>),
    InSplit(Range<usize>),
}

/// Result of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// A row, with its code relative to the row before it.
    Row(Code),
    /// The caller must [give](RunReader::give) the next cluster.
    NeedsCluster,
    End,
}

impl RunReader {
    /// Creates a reader of `rows` rows of at most `row_bytes_max` bytes each. It starts at the
    /// first row that begins in the first cluster, and skips the first `skipped` rows.
    pub(crate) fn new(skipped: u64, rows: u64, row_bytes_max: usize) -> Self {
        Self {
            rows_left: skipped + rows,
            skipped,
            has_begun: false,
            cluster: None,
            split: SplitRow { bytes: Vec::with_capacity(row_bytes_max + HEAD_BYTES_MAX), is_done: false },
            key: Vec::with_capacity(row_bytes_max),
            code: Code::END,
            payload: Payload::InSplit(0..0),
            is_first: true,
        }
    }

    /// The current row.
    pub(crate) fn row(&self) -> Row<'_> {
        let payload = match (&self.payload, &self.cluster) {
            (Payload::InCluster(range), Some(cluster)) => cluster.buffer.get(range.clone()),
            (Payload::InSplit(range), _) => self.split.bytes.get(range.clone()),
            (Payload::InCluster(_), None) => None,
        };
        let Some(payload) = payload else { unreachable!("a row's cluster stays until the next step") };
        Row { key: &self.key, payload }
    }

    /// The key of the current row.
    pub(crate) fn key(&self) -> &[u8] {
        &self.key
    }

    /// Advances to the next row, and invalidates the current one.
    pub(crate) fn step(&mut self) -> Result<Step, &'static str> {
        loop {
            let step = self.step_to_any()?;
            if self.skipped == 0 || !matches!(step, Step::Row(_)) {
                return Ok(step);
            }
            self.skipped -= 1;
            // Codes must be relative to the last row that was returned.
            self.is_first = true;
        }
    }

    fn step_to_any(&mut self) -> Result<Step, &'static str> {
        if self.rows_left == 0 {
            return Ok(Step::End);
        }
        if std::mem::take(&mut self.split.is_done) {
            self.split.bytes.clear();
        }
        let Some(cluster) = &mut self.cluster else { return Ok(Step::NeedsCluster) };
        if self.split.bytes.is_empty() {
            let Some(bytes) = cluster.buffer.get(cluster.at..cluster.end) else {
                unreachable!("{} of {} bytes were used", cluster.at, cluster.end)
            };
            if let Some((head, head_bytes)) = Head::decode(bytes)?
                && let Some(body) = bytes.get(head_bytes..head_bytes + head.body_bytes())
            {
                let (rest, _) = body.split_at(head.rest as usize);
                take_key(&mut self.key, &mut self.code, &mut self.is_first, head, rest)?;
                let payload_at = cluster.at + head_bytes + head.rest as usize;
                self.payload = Payload::InCluster(payload_at..payload_at + head.payload as usize);
                cluster.at = payload_at + head.payload as usize;
                self.rows_left -= 1;
                return Ok(Step::Row(self.code));
            }
        }
        self.step_across_clusters()
    }

    /// Assembles a row that crosses clusters.
    fn step_across_clusters(&mut self) -> Result<Step, &'static str> {
        let Some(cluster) = &mut self.cluster else { return Ok(Step::NeedsCluster) };
        loop {
            let split = &mut self.split.bytes;
            let wanted = match Head::decode(split)? {
                Some((head, head_bytes)) => head_bytes + head.body_bytes() - split.len(),
                None if split.len() >= HEAD_BYTES_MAX => return Err("a row has no valid header"),
                None => 1,
            };
            if wanted == 0 {
                return self.take_split();
            }
            let there = wanted.min(cluster.end - cluster.at);
            if there == 0 {
                return Ok(Step::NeedsCluster);
            }
            let Some(bytes) = cluster.buffer.get(cluster.at..cluster.at + there) else {
                unreachable!("{there} bytes are there")
            };
            split.extend_from_slice(bytes);
            cluster.at += there;
        }
    }

    fn take_split(&mut self) -> Result<Step, &'static str> {
        let Some((head, head_bytes)) = Head::decode(&self.split.bytes)? else {
            unreachable!("its head was decoded before")
        };
        let payload_at = head_bytes + head.rest as usize;
        let Some(rest) = self.split.bytes.get(head_bytes..payload_at) else { unreachable!("it is whole") };
        take_key(&mut self.key, &mut self.code, &mut self.is_first, head, rest)?;
        self.payload = Payload::InSplit(payload_at..payload_at + head.payload as usize);
        self.split.is_done = true;
        self.rows_left -= 1;
        Ok(Step::Row(self.code))
    }

    /// Adds the next cluster, with `used` valid bytes. Returns the buffer of the previous cluster.
    pub(crate) fn give(&mut self, buffer: BufferMut, used: usize) -> Result<Option<BufferMut>, &'static str> {
        let end = HEADER_BYTES + used;
        let head = ClusterHead::decode(buffer.get(HEADER_BYTES..end).unwrap_or_default())?;
        let start = match (std::mem::replace(&mut self.has_begun, true), head.first_row) {
            (false, Some(first_row)) => first_row as usize,
            (false, None) => return Err("no row begins where one should"),
            (true, _) => CLUSTER_HEAD_BYTES,
        };
        let next = Cluster { buffer, at: HEADER_BYTES + start, end };
        Ok(self.cluster.replace(next).map(|cluster| cluster.buffer))
    }

    /// Takes back the buffer of a cluster that has been consumed.
    pub(crate) fn take_cluster(&mut self) -> Option<BufferMut> {
        self.cluster.take().map(|cluster| cluster.buffer)
    }
}

fn take_key(
    key: &mut Vec<u8>,
    code: &mut Code,
    is_first: &mut bool,
    head: Head,
    rest: &[u8],
) -> Result<(), &'static str> {
    let stored = head.common as usize;
    let Some(behind) = key.get(stored..) else {
        return Err("a row shares a longer prefix than the previous key has");
    };
    // The writer may have stored more of the key than necessary.
    let common = stored + common_prefix(behind, rest);
    let is_equal = common == key.len() && rest.len() == behind.len();
    let was_first = std::mem::take(is_first);
    key.truncate(stored);
    key.extend_from_slice(rest);
    *code =
        if is_equal && !was_first { Code::EQUAL } else { Code::at(if was_first { 0 } else { common }, key) };
    Ok(())
}
