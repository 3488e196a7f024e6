//! Joins the pairs of written partitions, one at a time.

use nandle_io::BufferMut;
use nandle_io::buffer::GRAIN_BYTES;

use super::decision::{self, Decision};
use super::env::JoinEnv;
use super::hybrid::{Hybrid, PartitionOptions};
use super::matching::TableSide;
use super::partition::{Partition, PartitionReader};
use super::sink::Output;
use super::{JoinSink, pieces};
use crate::SpillError;
use crate::budget::Grant;
use crate::space::Chain;

const LISTS: &str = "lists of partitions";

/// Two partitions, one of each side, with the same hashes on all levels so far.
pub(super) struct Pair {
    pub(super) build: Partition,
    pub(super) probe: Partition,
    /// Number of times that its rows have been written.
    pub(super) level: u32,
    /// Bytes of all rows of the table side in the division that made this pair.
    pub(super) parent_bytes: u64,
}

impl Pair {
    pub(super) fn sides(&self, table_side: TableSide) -> (&Partition, &Partition) {
        match table_side {
            TableSide::Build => (&self.build, &self.probe),
            TableSide::Probe => (&self.probe, &self.build),
        }
    }

    fn row_bytes_max(&self) -> usize {
        self.build.row_bytes_max.max(self.probe.row_bytes_max)
    }
}

/// Pairs to join; the last one is next.
struct PairStack {
    pairs: Vec<Pair>,
    lists: Grant,
    lists_bytes: usize,
    /// Clusters of a partition that can be read at once.
    reach: usize,
}

impl PairStack {
    fn add(&mut self, pairs: Vec<Pair>) -> Result<(), SpillError> {
        self.pairs.reserve_exact(pairs.len());
        self.pairs.extend(pairs);
        self.count()
    }

    fn count(&mut self) -> Result<(), SpillError> {
        let chains_bytes = self.pairs.len() * 2 * Chain::list_bytes(self.reach);
        self.lists.resize(LISTS, self.pairs.capacity() * size_of::<Pair>() + chains_bytes)
    }

    fn free_bytes(&self) -> usize {
        self.lists_bytes.saturating_sub(self.lists.bytes())
    }
}

/// Joins the pairs, and all pairs that further divisions make.
pub(super) async fn join<S: JoinSink>(
    env: &mut JoinEnv,
    pairs: Vec<Pair>,
    output: &mut Output<'_, S>,
) -> Result<(), S::Error> {
    let (_grant, mut buffers) = env.take_read_buffers()?;
    let lists = env.options.budget.count(LISTS, 0)?;
    let (lists_bytes, reach) = (env.memory.lists_bytes, env.read_buffers());
    let mut waiting = PairStack { pairs: Vec::new(), lists, lists_bytes, reach };
    waiting.add(pairs)?;
    while let Some(pair) = waiting.pairs.pop() {
        waiting.count()?;
        env.report.levels = env.report.levels.max(pair.level);
        // Complete the writes before reading them back.
        env.appender.drain().await?;
        let area_bytes = area_bytes(env, &waiting, &pair);
        match decision::decide(env, &pair, area_bytes, waiting.free_bytes()) {
            Decision::Nothing => {}
            Decision::InPieces { table_side } => {
                buffers = pieces::join(env, &pair, table_side, area_bytes, buffers, output).await?;
            }
            Decision::Divide { table_side, fan_out } => {
                let dividing = PartitionOptions { table_side, level: pair.level, area_bytes, fan_out, reach };
                let (divided, all) = divide(env, &pair, dividing, buffers, output).await?;
                buffers = all;
                waiting.add(divided)?;
            }
        }
    }
    Ok(())
}

/// Memory for rows: the rest after the lists and two readers.
fn area_bytes(env: &JoinEnv, waiting: &PairStack, pair: &Pair) -> usize {
    let readers_bytes = 2 * PartitionReader::overhead_bytes(pair.row_bytes_max(), env.read_buffers());
    let free_bytes = env.options.budget.free_bytes().saturating_sub(waiting.free_bytes() + readers_bytes);
    free_bytes / GRAIN_BYTES * GRAIN_BYTES
}

/// Divides a pair by the hash of the next level. Partitions that stay in memory are joined at once.
async fn divide<S: JoinSink>(
    env: &mut JoinEnv,
    pair: &Pair,
    dividing: PartitionOptions,
    buffers: Vec<BufferMut>,
    output: &mut Output<'_, S>,
) -> Result<(Vec<Pair>, Vec<BufferMut>), S::Error> {
    env.report.divided_pairs += 1;
    let budget = env.options.budget.clone();
    let mut hybrid = Hybrid::new(&budget, dividing, env.space.salt(), env.plan.cluster_bytes)?;
    let (first, other) = pair.sides(dividing.table_side);
    let mut reader = PartitionReader::new(&env.space, &budget, first, buffers)?;
    while reader.advance().await? {
        hybrid.take(reader.row(), &mut env.appender).await?;
    }
    env.count_reads(reader.requests());
    let buffers = reader.into_buffers();
    hybrid.finish_first(&mut env.appender).await?;
    let mut reader = PartitionReader::new(&env.space, &budget, other, buffers)?;
    while reader.advance().await? {
        hybrid.meet(reader.row(), &mut env.appender, output).await?;
    }
    env.count_reads(reader.requests());
    let buffers = reader.into_buffers();
    env.report.filtered_rows += hybrid.filtered_rows;
    Ok((hybrid.finish(&mut env.appender, output).await?, buffers))
}
