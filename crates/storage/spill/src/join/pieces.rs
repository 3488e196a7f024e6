//! A pair of partitions with one side in memory, in one piece or in several: a block loop. It divides nothing by hashes, so it ends
//! where all rows have one key too.

use nandle_io::BufferMut;

use super::JoinSink;
use super::env::JoinEnv;
use super::hashing::KeyHash;
use super::matching::TableSide;
use super::pairs::Pair;
use super::partition::{Partition, PartitionReader};
use super::sink::Output;
use super::table::Table;
use crate::SpillError;
use crate::space::AfterReading;

/// Joins a pair. Gives the buffers back.
pub(super) async fn join<S: JoinSink>(
    env: &mut JoinEnv,
    pair: &Pair,
    table_side: TableSide,
    area_bytes: usize,
    buffers: Vec<BufferMut>,
    output: &mut Output<'_, S>,
) -> Result<Vec<BufferMut>, S::Error> {
    let (own, other) = pair.sides(table_side);
    let mut pieces = Pieces::begin(env, pair, own, area_bytes, buffers).await?;
    let mut count = 0;
    loop {
        let is_last = pieces.fill_table().await?;
        count += 1;
        let after_reading = if is_last { AfterReading::Release } else { AfterReading::Keep };
        pieces.meet_all(env, table_side, other, after_reading, output).await?;
        if is_last {
            break;
        }
    }
    if count > 1 {
        env.report.block_loops += 1;
        env.report.block_loop_pieces += count;
    }
    env.report.swapped_pairs += u64::from(table_side == TableSide::Probe);
    env.count_reads(pieces.reader.requests());
    let mut buffers = pieces.reader.into_buffers();
    buffers.extend(pieces.buffers);
    Ok(buffers)
}

struct Pieces {
    table: Table,
    hash: KeyHash,
    /// Of the side that is brought into memory.
    reader: PartitionReader,
    /// The reader is at a row that no piece has yet.
    has_row: bool,
    /// For reading the other side.
    buffers: Vec<BufferMut>,
}

impl Pieces {
    async fn begin(
        env: &JoinEnv,
        pair: &Pair,
        own: &Partition,
        area_bytes: usize,
        mut buffers: Vec<BufferMut>,
    ) -> Result<Self, SpillError> {
        let budget = &env.options.budget;
        let table = Table::new(budget, area_bytes)?;
        let others = buffers.split_off(buffers.len() / 2);
        let mut reader = PartitionReader::new(&env.space, budget, own, buffers, AfterReading::Release)?;
        let has_row = reader.advance().await?;
        let hash = KeyHash::of_level(pair.level, env.space.salt());
        Ok(Self { table, hash, reader, has_row, buffers: others })
    }

    /// Brings as many rows into memory as fit. Returns whether they are the last ones.
    async fn fill_table(&mut self) -> Result<bool, SpillError> {
        self.table.clear();
        while self.has_row {
            let row = self.reader.row();
            if !self.table.push(self.hash.of(row.key), row, 0) {
                assert!(self.table.rows() > 0, "a row that was taken fits into memory");
                break;
            }
            self.has_row = self.reader.advance().await?;
        }
        self.table.make_buckets();
        Ok(!self.has_row)
    }

    /// Joins the rows in memory with all of the other side.
    async fn meet_all<S: JoinSink>(
        &mut self,
        env: &mut JoinEnv,
        table_side: TableSide,
        other: &Partition,
        after_reading: AfterReading,
        output: &mut Output<'_, S>,
    ) -> Result<(), S::Error> {
        let buffers = std::mem::take(&mut self.buffers);
        let mut reader =
            PartitionReader::new(&env.space, &env.options.budget, other, buffers, after_reading)?;
        while reader.advance().await? {
            let row = reader.row();
            table_side.meet(&mut self.table, self.hash.of(row.key), row, output).await?;
        }
        env.count_reads(reader.requests());
        self.buffers = reader.into_buffers();
        table_side.finish(&self.table, output).await
    }
}
