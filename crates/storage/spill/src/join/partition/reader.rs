use std::ops::Range;

use nandle_io::BufferMut;

use super::{CARRIED_BYTES, Partition};
use crate::budget::Grant;
use crate::rows::Row;
use crate::rows::encoding::{HEAD_BYTES_MAX, Head};
use crate::space::cluster::HEADER_BYTES;
use crate::space::{AfterReading, ChainReader, Space};
use crate::{Budget, SpillError};

/// Reads the rows of a partition, in a different order than they were written.
pub(in crate::join) struct PartitionReader {
    _grant: Grant,
    chain: ChainReader,
    rows_left: u64,
    cluster: Option<Cluster>,
    /// Ends with the tail of a row that crosses clusters; the row's head is read later.
    carry: Vec<u8>,
    carry_start: usize,
    present: RowLocation,
}

struct Cluster {
    buffer: BufferMut,
    /// Offset of the next row.
    at: usize,
    end: usize,
    /// Tail of a row that began in the cluster before.
    carried: Range<usize>,
}

/// Location of the current row.
enum RowLocation {
    Nowhere,
    InCluster(RowRange),
    InCarry(RowRange),
}

struct RowRange {
    key: Range<usize>,
    payload: Range<usize>,
}

impl RowRange {
    fn of<'a>(&self, bytes: &'a [u8]) -> Option<Row<'a>> {
        Some(Row { key: bytes.get(self.key.clone())?, payload: bytes.get(self.payload.clone())? })
    }
}

impl PartitionReader {
    /// Memory besides the buffers, for rows of at most `row_bytes_max` bytes.
    pub(in crate::join) fn overhead_bytes(row_bytes_max: usize, reach: usize) -> usize {
        row_bytes_max + HEAD_BYTES_MAX + size_of::<Self>() + ChainReader::overhead_bytes(reach)
    }

    /// Starts to read.
    pub(in crate::join) fn new(
        space: &Space,
        budget: &Budget,
        partition: &Partition,
        buffers: Vec<BufferMut>,
    ) -> Result<Self, SpillError> {
        let carry_bytes = partition.row_bytes_max + HEAD_BYTES_MAX;
        let bytes = Self::overhead_bytes(partition.row_bytes_max, partition.chain.reach());
        Ok(Self {
            _grant: budget.count("reading a partition", bytes)?,
            chain: ChainReader::new(space, &partition.chain, buffers),
            rows_left: partition.rows,
            cluster: None,
            carry: vec![0; carry_bytes],
            carry_start: carry_bytes,
            present: RowLocation::Nowhere,
        })
    }

    /// Sets whether clusters are released after reading; the default is to release them. Must be
    /// called before the first row.
    pub(in crate::join) fn set_after_reading(&mut self, after_reading: AfterReading) {
        self.chain.set_after_reading(after_reading);
    }

    pub(in crate::join) fn requests(&self) -> u64 {
        self.chain.requests
    }

    /// Returns the buffers at the end.
    pub(in crate::join) fn into_buffers(self) -> Vec<BufferMut> {
        self.chain.into_buffers()
    }

    /// The current row.
    pub(in crate::join) fn row(&self) -> Row<'_> {
        let row = match (&self.present, &self.cluster) {
            (RowLocation::InCluster(parts), Some(cluster)) => parts.of(&cluster.buffer),
            (RowLocation::InCarry(parts), _) => parts.of(&self.carry),
            (RowLocation::Nowhere | RowLocation::InCluster(_), _) => None,
        };
        let Some(row) = row else { unreachable!("a row's bytes stay until the next step") };
        row
    }

    /// Advances to the next row. Returns false at the end.
    pub(in crate::join) async fn advance(&mut self) -> Result<bool, SpillError> {
        if let RowLocation::InCarry(_) = std::mem::replace(&mut self.present, RowLocation::Nowhere) {
            self.carry_start = self.carry.len();
        }
        while self.cluster.as_ref().is_none_or(|cluster| cluster.at == cluster.end) {
            if !self.next_cluster().await? {
                let is_whole = self.rows_left == 0 && self.carry_start == self.carry.len();
                return if is_whole { Ok(false) } else { Err(self.chain.damaged("rows are missing")) };
            }
        }
        self.take_row().map_err(|what| self.chain.damaged(what))?;
        match self.rows_left.checked_sub(1) {
            Some(left) => self.rows_left = left,
            None => return Err(self.chain.damaged("it has more rows than were written")),
        }
        Ok(true)
    }

    async fn next_cluster(&mut self) -> Result<bool, SpillError> {
        let exhausted = match self.cluster.take() {
            Some(Cluster { buffer, carried, .. }) => {
                let carried = buffer.get(carried).unwrap_or_default();
                prepend(&mut self.carry, &mut self.carry_start, carried)
                    .map_err(|what| self.chain.damaged(what))?;
                Some(buffer)
            }
            None => None,
        };
        let Some((buffer, used)) = self.chain.next(exhausted).await? else { return Ok(false) };
        let carried = buffer.get(HEADER_BYTES..HEADER_BYTES + used).and_then(<[u8]>::first_chunk);
        let carried = carried.map_or(usize::MAX, |bytes| u32::from_le_bytes(*bytes) as usize);
        let start = HEADER_BYTES + CARRIED_BYTES;
        let (at, end) = (start.saturating_add(carried), HEADER_BYTES + used);
        if at > end {
            return Err(self.chain.damaged("the end of a row is longer than the cluster"));
        }
        self.cluster = Some(Cluster { buffer, at, end, carried: start..at });
        Ok(true)
    }

    fn take_row(&mut self) -> Result<(), &'static str> {
        let Some(cluster) = &mut self.cluster else { unreachable!("a row begins in the present cluster") };
        let Some(bytes) = cluster.buffer.get(cluster.at..cluster.end) else {
            unreachable!("{} of {} bytes were used", cluster.at, cluster.end)
        };
        if let Some(parts) = parts(bytes, cluster.at)? {
            cluster.at = parts.payload.end;
            self.present = RowLocation::InCluster(parts);
            return Ok(());
        }
        prepend(&mut self.carry, &mut self.carry_start, bytes)?;
        cluster.at = cluster.end;
        let bytes = self.carry.get(self.carry_start..).unwrap_or_default();
        match parts(bytes, self.carry_start)? {
            Some(parts) if parts.payload.end == self.carry.len() => {
                self.present = RowLocation::InCarry(parts);
                Ok(())
            }
            Some(_) | None => Err("a row that crosses clusters is incomplete"),
        }
    }
}

/// Returns the ranges of the key and payload of the row at `at`, or none if the bytes end within
/// the row.
fn parts(bytes: &[u8], at: usize) -> Result<Option<RowRange>, &'static str> {
    let Some((head, head_bytes)) = Head::decode(bytes)? else { return Ok(None) };
    if head.common != 0 {
        return Err("a row shares a prefix with another row");
    }
    if head_bytes + head.body_bytes() > bytes.len() {
        return Ok(None);
    }
    let key = at + head_bytes..at + head_bytes + head.rest as usize;
    let payload = key.end..key.end + head.payload as usize;
    Ok(Some(RowRange { key, payload }))
}

/// Puts bytes in front of those at the end of `carry`.
fn prepend(carry: &mut [u8], start: &mut usize, bytes: &[u8]) -> Result<(), &'static str> {
    let Some(from) = start.checked_sub(bytes.len()) else { return Err("a row is longer than any written") };
    let Some(into) = carry.get_mut(from..*start) else { unreachable!("{from} to {start} is in the carry") };
    into.copy_from_slice(bytes);
    *start = from;
    Ok(())
}
