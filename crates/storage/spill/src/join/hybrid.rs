//! Hybrid hash join: partitions that fit stay in memory (Shapiro, *Join Processing in Database
//! Systems with Large Main Memories*, ACM TODS 1986).
//!
//! The rows of one side come first. A hash divides them into partitions in memory. When memory runs
//! out, the largest resident partition is destaged (Nakayama, Kitsuregawa, Takagi,
//! *Hash-Partitioned Join Method Using Dynamic Destaging Strategy*, VLDB 1988), and its later rows
//! are written, too. Then the rows of the other side come. Rows of a resident partition are joined
//! at once; the others are written.

use super::filter::Filter;
use super::hashing::{KeyHash, partition};
use super::matching::TableSide;
use super::pairs::Pair;
use super::partition::{Partition, PartitionWriter};
use super::sink::Output;
use super::table::{Entry, ROW_OVERHEAD_BYTES, Table};
use super::{JoinSink, filter};
use crate::budget::Grant;
use crate::rows::Row;
use crate::space::cluster::HEADER_BYTES;
use crate::space::{Appender, Chain};
use crate::{Budget, SpillError};

/// Parameters of a division.
#[derive(Debug, Clone, Copy)]
pub(super) struct PartitionOptions {
    pub(super) table_side: TableSide,
    /// Number of times that these rows have been written before.
    pub(super) level: u32,
    pub(super) area_bytes: usize,
    pub(super) fan_out: usize,
    /// Clusters of a partition that can be read at once.
    pub(super) reach: usize,
}

pub(super) struct Hybrid {
    _lists: Grant,
    dividing: PartitionOptions,
    hash: KeyHash,
    table: Table,
    partitions: Vec<Slot>,
    layout: Layout,
    /// Partitions that have been destaged.
    written: usize,
    row_bytes: u64,
    /// Rows that the filter excluded from matching.
    pub(super) filtered_rows: u64,
}

/// State of a partition.
enum Slot {
    /// Resident: it takes `bytes` of the table.
    InMemory { bytes: usize },
    /// Destaged: rows of the table side are written.
    Writing { body: usize, writer: PartitionWriter },
    /// Destaged: the table side is complete, and rows of the other side are written.
    WritingOther { body: usize, table_side: Partition, writer: PartitionWriter },
    /// Placeholder while the state changes.
    Vacant,
}

/// Areas reserved in the table's buffer, from its end downwards: the filter, and a body for each
/// destaged partition.
#[derive(Debug, Clone, Copy)]
struct Layout {
    filter_bytes: usize,
    body_bytes: usize,
}

impl Layout {
    fn split(self, reserved: &mut [u8]) -> (&mut [u8], Filter<'_>) {
        let at = reserved.len().saturating_sub(self.filter_bytes);
        let Some((bodies, filter)) = reserved.split_at_mut_checked(at) else {
            unreachable!("{at} is inside")
        };
        (bodies, Filter::new(filter))
    }

    fn body(self, bodies: &mut [u8], body: usize) -> &mut [u8] {
        let end = bodies.len().saturating_sub(body * self.body_bytes);
        let body = end.checked_sub(self.body_bytes).and_then(|start| bodies.get_mut(start..end));
        let Some(body) = body else { unreachable!("it was reserved") };
        body
    }
}

/// List memory for a partition and the pair that may come of it, in bytes.
pub(super) fn by_partition_bytes(reach: usize) -> usize {
    size_of::<Slot>() + size_of::<Pair>() + 4 * Chain::list_bytes(reach)
}

impl Hybrid {
    pub(super) fn new(
        budget: &Budget,
        dividing: PartitionOptions,
        salt: u64,
        cluster_bytes: usize,
    ) -> Result<Self, SpillError> {
        let PartitionOptions { level, area_bytes, fan_out, reach, .. } = dividing;
        debug_assert!(fan_out >= 2, "rows are divided");
        let lists_bytes = fan_out * (size_of::<Slot>() + 2 * Chain::list_bytes(reach));
        let body_bytes = cluster_bytes - HEADER_BYTES;
        Ok(Self {
            _lists: budget.count("lists of partitions", lists_bytes)?,
            dividing,
            hash: KeyHash::of_level(level, salt),
            table: Table::new(budget, area_bytes)?,
            partitions: (0..fan_out).map(|_| Slot::InMemory { bytes: 0 }).collect(),
            layout: Layout { filter_bytes: filter::bytes_in(area_bytes), body_bytes },
            written: 0,
            row_bytes: 0,
            filtered_rows: 0,
        })
    }

    /// Bytes that destaging one more partition reserves.
    fn next_reserved_bytes(&self) -> usize {
        let Layout { filter_bytes, body_bytes } = self.layout;
        match self.written {
            0 => filter_bytes + body_bytes,
            all if all == self.partitions.len() => 0,
            _ => body_bytes,
        }
    }

    /// Adds a row of the first side.
    pub(super) async fn take(&mut self, row: Row<'_>, appender: &mut Appender) -> Result<(), SpillError> {
        let row_bytes = row.key.len() + row.payload.len();
        self.row_bytes += row_bytes as u64;
        let hash = self.hash.of(row.key);
        let number = partition(hash, self.partitions.len());
        loop {
            let reserved_bytes = self.next_reserved_bytes();
            let Self { table, partitions, layout, .. } = self;
            match partitions.get_mut(number) {
                Some(Slot::InMemory { bytes }) => {
                    if table.push(hash, row, reserved_bytes) {
                        *bytes += row_bytes + ROW_OVERHEAD_BYTES;
                        return Ok(());
                    }
                }
                Some(Slot::Writing { body, writer }) => {
                    let (bodies, mut filter) = layout.split(table.reserved());
                    filter.insert(hash);
                    return writer.write(row, layout.body(bodies, *body), appender).await;
                }
                Some(Slot::WritingOther { .. } | Slot::Vacant) | None => {
                    unreachable!("{number} is a partition of the side that comes first")
                }
            }
            self.write_largest(appender).await?;
        }
    }

    /// Destages the largest partitions until a part of the area is free. Freeing in large steps
    /// limits how often all rows are scanned.
    async fn write_largest(&mut self, appender: &mut Appender) -> Result<(), SpillError> {
        const PART: usize = 16;
        let wanted_bytes = self.dividing.area_bytes / PART;
        let mut freed_bytes = 0;
        while freed_bytes == 0 || freed_bytes < wanted_bytes {
            let reserved_bytes = self.next_reserved_bytes();
            let Some((bytes, slot)) = self.largest().filter(|(bytes, _)| *bytes > 0) else { break };
            // If memory has room for one body only, one partition must suffice.
            if freed_bytes > 0 && !self.table.has_room(0, 0, reserved_bytes) {
                break;
            }
            let writer = PartitionWriter::new(appender.begin_chain(self.dividing.reach));
            if let Some(slot) = self.partitions.get_mut(slot) {
                *slot = Slot::Writing { body: self.written, writer };
            }
            self.table.reserve(reserved_bytes);
            if self.written == 0 {
                self.layout.split(self.table.reserved()).1.clear();
            }
            self.written += 1;
            freed_bytes += bytes;
        }
        assert!(freed_bytes > 0, "memory is full of rows of partitions");
        let Self { table, partitions, layout, .. } = self;
        let (entries, reserved) = table.split();
        let (bodies, mut filter) = layout.split(reserved);
        let fan_out = partitions.len();
        for Entry { hash, row, .. } in entries {
            if let Some(Slot::Writing { body, writer }) = partitions.get_mut(partition(hash, fan_out)) {
                filter.insert(hash);
                writer.write(row, layout.body(bodies, *body), appender).await?;
            }
        }
        let is_in_memory = |number| matches!(partitions.get(number), Some(Slot::InMemory { .. }));
        table.retain(|hash| is_in_memory(partition(hash, fan_out)));
        Ok(())
    }

    /// Returns the size and number of the largest resident partition.
    fn largest(&self) -> Option<(usize, usize)> {
        let in_memory = (0..).zip(&self.partitions).filter_map(|(number, slot)| match slot {
            Slot::InMemory { bytes } => Some((*bytes, number)),
            Slot::Writing { .. } | Slot::WritingOther { .. } | Slot::Vacant => None,
        });
        in_memory.max()
    }

    /// Ends the first side.
    pub(super) async fn finish_first(&mut self, appender: &mut Appender) -> Result<(), SpillError> {
        self.table.make_buckets();
        let Self { table, partitions, layout, dividing, .. } = self;
        let (bodies, _) = layout.split(table.reserved());
        for slot in partitions {
            *slot = match std::mem::replace(slot, Slot::Vacant) {
                Slot::Writing { body, writer } => {
                    let table_side = writer.finish(layout.body(bodies, body), appender).await?;
                    let writer = PartitionWriter::new(appender.begin_chain(dividing.reach));
                    Slot::WritingOther { body, table_side, writer }
                }
                same @ Slot::InMemory { .. } => same,
                Slot::WritingOther { .. } | Slot::Vacant => unreachable!("the other side's rows come later"),
            };
        }
        Ok(())
    }

    /// Joins a row of the other side, or writes it.
    pub(super) async fn meet<S: JoinSink>(
        &mut self,
        row: Row<'_>,
        appender: &mut Appender,
        output: &mut Output<'_, S>,
    ) -> Result<(), S::Error> {
        let hash = self.hash.of(row.key);
        let number = partition(hash, self.partitions.len());
        let Self { table, partitions, layout, dividing, .. } = self;
        match partitions.get_mut(number) {
            Some(Slot::InMemory { .. }) => dividing.table_side.meet(table, hash, row, output).await,
            Some(Slot::WritingOther { body, writer, .. }) => {
                let (bodies, filter) = layout.split(table.reserved());
                if filter.may_have(hash) {
                    return Ok(writer.write(row, layout.body(bodies, *body), appender).await?);
                }
                self.filtered_rows += 1;
                dividing.table_side.meet_none(row, output).await
            }
            Some(Slot::Writing { .. } | Slot::Vacant) | None => {
                unreachable!("{number} is a partition of the side that comes last")
            }
        }
    }

    /// Ends the other side. Returns the pairs of partitions that are left to join.
    pub(super) async fn finish<S: JoinSink>(
        mut self,
        appender: &mut Appender,
        output: &mut Output<'_, S>,
    ) -> Result<Vec<Pair>, S::Error> {
        let PartitionOptions { table_side: side, level, .. } = self.dividing;
        side.finish(&self.table, output).await?;
        let mut pairs = Vec::with_capacity(self.written);
        for slot in std::mem::take(&mut self.partitions) {
            let Slot::WritingOther { body, table_side, writer } = slot else { continue };
            let (bodies, _) = self.layout.split(self.table.reserved());
            let other = writer.finish(self.layout.body(bodies, body), appender).await?;
            let (build, probe) = match side {
                TableSide::Build => (table_side, other),
                TableSide::Probe => (other, table_side),
            };
            pairs.push(Pair { build, probe, level: level + 1, parent_bytes: self.row_bytes });
        }
        Ok(pairs)
    }
}
