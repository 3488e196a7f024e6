//! Recovery of the checksums of home pages: see the [format](super::format). Holds four bytes per
//! page, and one piece of the area at a time.

use std::cell::{Cell, RefCell};

use super::format::{CHUNK_PAGES, Entry, LogBlock, decode_chunk};
use super::{Area, HomeSums, SumsState, arena};
use crate::defects::Defect;
use crate::extents::Scan;
use crate::label::Label;
use crate::readable::ReadableBlocks;
use crate::{BLOCK_BYTES, PageError, PageNumber};

/// Maximum blocks per request.
const READ_BLOCKS: u64 = (1 << 20) / BLOCK_BYTES as u64;

/// Valid rounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rounds {
    pub(crate) newest: u64,
    /// In a closed store: round after which every chunk was rewritten without new entries.
    pub(crate) complete_after: Option<u64>,
}

impl Rounds {
    /// Returns true if a round is known to be empty.
    pub(super) fn is_without_entries(&self, round: u64) -> bool {
        self.complete_after.is_some_and(|after| round > after)
    }
}

/// Recovers the sums as of a round; `None` if the store has no sums. Lost sums become unknown if
/// `may_forget` is set, and are an error otherwise.
pub(crate) async fn recover(
    scan: &Scan<'_>,
    rounds: Rounds,
    may_forget: bool,
) -> Result<Option<HomeSums>, PageError> {
    let Rounds { newest: round, complete_after } = rounds;
    let Some(area) = Area::of(scan.label) else { return Ok(None) };
    let mut table = Table::unknown(area);
    let mut has_gaps = false;
    // Nothing was written yet.
    if round > 0 {
        let reader = AreaReader { scan, area, rounds };
        reader.read_chunks(&mut table).await?;
        if let Some(first) = table.forget_before(reader.lost_before().await?) {
            if !may_forget {
                return Err(PageError::SumsLost { first, offset_bytes: scan.label.sums_offset });
            }
            has_gaps = true;
        }
        if !Defect::SumsLogIgnored.is_seeded() {
            reader.read_logs(|round, block| table.enter(round, block)).await?;
        }
        if table.sums.iter().skip(in_memory(scan.label.pages)).any(|sum| *sum != 0) {
            return Err(Label::older_than(scan.label.sums_offset));
        }
    }
    let (state, has_gaps) = (RefCell::new(SumsState { round, sums: table.sums }), Cell::new(has_gaps));
    let complete_after = Cell::new(complete_after.filter(|_| !has_gaps.get()));
    Ok(Some(HomeSums { area, arena: arena()?, state, has_gaps, complete_after }))
}

/// Sums of all chunks, and the round that wrote each chunk, or 0.
struct Table {
    rounds: Vec<u64>,
    sums: Vec<u32>,
}

impl Table {
    fn unknown(area: Area) -> Self {
        let chunks = in_memory(area.chunks);
        Self { rounds: vec![0; chunks], sums: vec![0; chunks * CHUNK_PAGES] }
    }

    fn chunks(&mut self) -> impl Iterator<Item = (&mut u64, &mut [u32])> {
        self.rounds.iter_mut().zip(self.sums.chunks_mut(CHUNK_PAGES))
    }

    /// Enters a chunk as written by a round.
    fn load(&mut self, chunk: u64, round: u64, sums: &[u32]) {
        let Some((of_chunk, place)) = self.chunks().nth(in_memory(chunk)) else {
            unreachable!("the area has chunk {chunk}")
        };
        *of_chunk = round;
        place.copy_from_slice(sums);
    }

    /// Clears the sums of chunks written before `lost_before`, which can't be brought up to date.
    /// Returns the first of their pages.
    fn forget_before(&mut self, lost_before: u64) -> Option<PageNumber> {
        let mut lost = None;
        for (first, (round, sums)) in (0..).step_by(CHUNK_PAGES).zip(self.chunks()) {
            if *round < lost_before {
                *round = lost_before;
                sums.fill(0);
                lost.get_or_insert(PageNumber(first));
            }
        }
        lost
    }

    /// Enters a round's log block into older chunks.
    fn enter(&mut self, round: u64, block: Option<LogBlock>) {
        let Some(LogBlock { entries, .. }) = block else { return };
        for (page, sum) in entries {
            let number = in_memory(page.0);
            let is_older = self.rounds.get(number / CHUNK_PAGES).map(|written| *written < round);
            debug_assert!(is_older.is_some(), "a block names a page without a chunk: {page}");
            if let (Some(true), Some(place)) = (is_older, self.sums.get_mut(number)) {
                *place = sum;
            }
        }
    }
}

/// Reads the area as of a round.
struct AreaReader<'a> {
    scan: &'a Scan<'a>,
    area: Area,
    rounds: Rounds,
}

impl AreaReader<'_> {
    async fn blocks(&self, first: u64, blocks: u64) -> Result<ReadableBlocks, PageError> {
        let offset_bytes = self.area.offset_bytes + first * BLOCK_BYTES as u64;
        self.scan.read(offset_bytes, blocks * BLOCK_BYTES as u64).await
    }

    /// Reads the newest valid version of each chunk. Chunks up to the round's own lie in one copy
    /// of the table, the others in the other copy.
    async fn read_chunks(&self, table: &mut Table) -> Result<(), PageError> {
        let mut chunk = 0;
        while chunk < self.area.chunks {
            let Some(round) = self.area.newest(chunk, self.rounds.newest) else {
                chunk += 1;
                continue;
            };
            let end = if chunk <= self.area.chunk(self.rounds.newest) {
                self.area.chunk(self.rounds.newest) + 1
            } else {
                self.area.chunks
            };
            let blocks = READ_BLOCKS.min(end - chunk);
            let read = self.blocks(self.area.chunk_block(round), blocks).await?;
            let mut damaged = Vec::new();
            for ((chunk, round), block) in (chunk..).zip(round..).zip(read.blocks()) {
                debug_assert_eq!(self.area.newest(chunk, self.rounds.newest), Some(round), "chunk {chunk}");
                match block.and_then(|block| decode_chunk(self.area.id, round, chunk, block)) {
                    Some(sums) => table.load(chunk, round, &sums),
                    None => damaged.push((chunk, round)),
                }
            }
            drop(read);
            for (chunk, newest) in damaged {
                self.read_older(table, chunk, newest).await?;
            }
            chunk += blocks;
        }
        Ok(())
    }

    /// Reads the previous version of a damaged chunk.
    async fn read_older(&self, table: &mut Table, chunk: u64, newest: u64) -> Result<(), PageError> {
        let Some(older) = newest.checked_sub(self.area.chunks).filter(|round| *round > 0) else {
            return Ok(());
        };
        let block = self.blocks(self.area.chunk_block(older), 1).await?;
        if let Some(sums) = block.whole().and_then(|block| decode_chunk(self.area.id, older, chunk, block)) {
            table.load(chunk, older, &sums);
        }
        Ok(())
    }

    /// First round with a log block in the ring.
    fn first_log(&self) -> u64 {
        let rounds = 2 * self.area.chunks;
        (self.rounds.newest + 1).checked_sub(rounds).map_or(1, |first| first.max(1))
    }

    /// Round before which chunks can't be brought up to date.
    async fn lost_before(&self) -> Result<u64, PageError> {
        // Chunks older than the first remaining log block can't either.
        let mut lost_before = self.first_log() - 1;
        let note = |round: u64, block: Option<LogBlock>| {
            let lost = match block {
                None => round,
                Some(LogBlock { table: 0, .. }) => return,
                Some(LogBlock { table, .. }) => round + 1 - u64::from(table),
            };
            lost_before = lost_before.max(lost);
        };
        self.read_logs(note).await?;
        Ok(lost_before)
    }

    /// Returns true if a log block is possible in this area. No store writes others.
    fn can_be(&self, round: u64, block: &LogBlock) -> bool {
        let table_max = self.area.chunks.min(round);
        let has_chunk = |(page, _): &Entry| page.0 / (CHUNK_PAGES as u64) < self.area.chunks;
        u64::from(block.table) <= table_max && block.entries.iter().all(has_chunk)
    }

    /// Empty log block of a round known to be empty.
    fn block_without_entries(&self, round: u64) -> Option<LogBlock> {
        self.rounds.is_without_entries(round).then(|| LogBlock { entries: Vec::new(), table: 0 })
    }

    /// Reads the log blocks in the ring, in order; `None` for missing ones.
    async fn read_logs(&self, mut visit: impl FnMut(u64, Option<LogBlock>)) -> Result<(), PageError> {
        let mut round = self.first_log();
        while round <= self.rounds.newest {
            let first = self.area.log_block(round);
            let blocks = READ_BLOCKS.min(self.area.log_run(round)).min(self.rounds.newest + 1 - round);
            let read = self.blocks(first, blocks).await?;
            for (round, block) in (round..).zip(read.blocks()) {
                let block = block.and_then(|block| LogBlock::decode(self.area.id, round, block));
                visit(
                    round,
                    block.filter(|block| self.can_be(round, block)).or(self.block_without_entries(round)),
                );
            }
            round += blocks;
        }
        Ok(())
    }
}

/// Converts a number of items held in memory.
fn in_memory(number: u64) -> usize {
    usize::try_from(number).unwrap_or_else(|_| unreachable!("{number} of what is in memory"))
}
