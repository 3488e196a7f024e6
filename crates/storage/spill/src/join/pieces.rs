//! Block loop join: one side of a pair is loaded in one or more pieces, and the other side streams
//! past each. It works even if all rows have one key, because it doesn't divide by hash.

use nandle_io::BufferMut;

use super::JoinSink;
use super::env::JoinEnv;
use super::hashing::KeyHash;
use super::matching::TableSide;
use super::pairs::Pair;
use super::partition::PartitionReader;
use super::sink::Output;
use super::table::Table;
use crate::SpillError;
use crate::space::AfterReading;

/// Joins a pair. Returns the buffers.
pub(super) async fn join<S: JoinSink>(
    env: &mut JoinEnv,
    pair: &Pair,
    table_side: TableSide,
    area_bytes: usize,
    mut buffers: Vec<BufferMut>,
    output: &mut Output<'_, S>,
) -> Result<Vec<BufferMut>, S::Error> {
    let (own, other) = pair.sides(table_side);
    let budget = env.options.budget.clone();
    let own_buffers = buffers.split_off(buffers.len() / 2);
    let mut pieces = BlockLoop {
        table_side,
        table: Table::new(&budget, area_bytes)?,
        hash: KeyHash::of_level(pair.level, env.space.salt()),
        reader: PartitionReader::new(&env.space, &budget, own, own_buffers)?,
        has_row: false,
    };
    pieces.has_row = pieces.reader.advance().await?;
    let mut count = 0;
    loop {
        // Read the other side ahead while the piece is loaded.
        let mut others = PartitionReader::new(&env.space, &budget, other, buffers)?;
        pieces.fill_table().await?;
        let is_last = !pieces.has_row;
        others.set_after_reading(if is_last { AfterReading::Release } else { AfterReading::Keep });
        pieces.meet_all(&mut others, output).await?;
        count += 1;
        env.count_reads(others.requests());
        buffers = others.into_buffers();
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
    buffers.extend(pieces.reader.into_buffers());
    Ok(buffers)
}

struct BlockLoop {
    table_side: TableSide,
    table: Table,
    hash: KeyHash,
    /// Reader of the side that is loaded.
    reader: PartitionReader,
    /// True if the reader is at a row that is in no piece yet.
    has_row: bool,
}

impl BlockLoop {
    /// Loads as many rows as fit.
    async fn fill_table(&mut self) -> Result<(), SpillError> {
        self.table.clear();
        while self.has_row {
            let row = self.reader.row();
            if !self.table.push(self.hash.of(row.key), row, 0) {
                assert!(self.table.rows() > 0, "an accepted row fits into memory");
                break;
            }
            self.has_row = self.reader.advance().await?;
        }
        self.table.make_buckets();
        Ok(())
    }

    /// Joins the rows in memory with all rows of the other side.
    async fn meet_all<S: JoinSink>(
        &mut self,
        others: &mut PartitionReader,
        output: &mut Output<'_, S>,
    ) -> Result<(), S::Error> {
        while others.advance().await? {
            let row = others.row();
            self.table_side.meet(&mut self.table, self.hash.of(row.key), row, output).await?;
        }
        self.table_side.finish(&self.table, output).await
    }
}
