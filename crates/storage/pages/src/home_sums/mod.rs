//! Durable checksums of home pages, which let later openings detect wrong contents. Their owner
//! writes them together with its other writes, and records the valid round in its own structure.

mod format;
mod inspect;
mod recover;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use nandle_io::{Arena, Buffer, WriteBuffers};

pub(crate) use format::Entry;
use format::{CHUNK_PAGES, ENTRIES_MAX, LogBlock, encode_chunk};
pub(crate) use inspect::{HomeSum, SumsEvidence};
pub(crate) use recover::{Rounds, recover};

use crate::disk::Disk;
use crate::home::Home;
use crate::label::Label;
use crate::memory::memory_of;
use crate::{BLOCK_BYTES, PageError, PageNumber};

/// Rounds written concurrently.
const ROUNDS_AT_ONCE: usize = 16;
/// Maximum chunks rewritten at a close: 16 MiB with their log blocks.
const COMPLETED_CHUNKS_MAX: u64 = 2048;

/// Sums of all home pages; see the [format](format).
pub(crate) struct HomeSums {
    area: Area,
    arena: Arena,
    state: RefCell<SumsState>,
    /// True if sums were lost and the table doesn't record that yet.
    has_gaps: Cell<bool>,
    /// Round after which every chunk was rewritten without new entries.
    complete_after: Cell<Option<u64>>,
}

struct SumsState {
    /// Last round written.
    round: u64,
    /// Sum of every page of every chunk, or 0.
    sums: Vec<u32>,
}

/// Place of a store's sums.
#[derive(Debug, Clone, Copy)]
struct Area {
    id: u128,
    offset_bytes: u64,
    chunks: u64,
    /// Distance between the four parts.
    stride_blocks: u64,
}

/// Number of parts: two halves of the log, and two copies of the table.
const PARTS: u64 = 4;
/// Minimum length of a part, as long as a stretch that fails together.
const PART_BLOCKS_MIN: u64 = (64 << 10) / BLOCK_BYTES as u64;

/// Length of the area for `chunks` chunks.
pub(crate) fn area_bytes(chunks: u64) -> u64 {
    PARTS * chunks.next_multiple_of(PART_BLOCKS_MIN) * BLOCK_BYTES as u64
}

/// Number of chunks in an area whose parts have no padding.
pub(crate) fn chunks_in(area_bytes: u64) -> u64 {
    area_bytes / PARTS / BLOCK_BYTES as u64
}

/// Maximum number of pages of `chunks` chunks.
pub(crate) fn pages_max(chunks: u64) -> u64 {
    chunks.saturating_mul(CHUNK_PAGES as u64)
}

/// Number of chunks of `pages` pages.
pub(crate) fn chunks_of(pages: u64) -> u64 {
    let chunks = pages.div_ceil(CHUNK_PAGES as u64).max(1);
    debug_assert!(pages_max(chunks) >= pages, "{chunks} chunks have no room for {pages} sums");
    chunks
}

impl Area {
    /// Returns `None` if the store has no sums.
    fn of(label: &Label) -> Option<Self> {
        let stride_blocks = chunks_in(label.sums_bytes);
        let chunks = label.sums_chunks;
        debug_assert!(chunks <= stride_blocks, "{chunks} chunks have room in {stride_blocks} blocks");
        let area = Self { id: label.id, offset_bytes: label.sums_offset, chunks, stride_blocks };
        (label.sums_bytes > 0).then_some(area)
    }

    /// Block of a round's log block.
    fn log_block(self, round: u64) -> u64 {
        self.part(round) * self.stride_blocks + self.chunk(round)
    }

    /// Number of adjacent log blocks from a round's on.
    fn log_run(self, round: u64) -> u64 {
        self.chunks - self.chunk(round)
    }

    /// Block of a round's chunk.
    fn chunk_block(self, round: u64) -> u64 {
        (2 + self.part(round)) * self.stride_blocks + self.chunk(round)
    }

    /// Half of the log, and copy of the table.
    fn part(self, round: u64) -> u64 {
        round / self.chunks % 2
    }

    fn chunk(self, round: u64) -> u64 {
        round % self.chunks
    }

    /// Last round up to `round` that wrote a chunk, if any.
    fn newest(self, chunk: u64, round: u64) -> Option<u64> {
        let since = (round + self.chunks - chunk) % self.chunks;
        let newest = round.checked_sub(since).filter(|round| *round > 0);
        debug_assert!(newest.is_none_or(|newest| self.chunk(newest) == chunk), "round {newest:?} of {chunk}");
        newest
    }
}

impl HomeSums {
    pub(crate) fn round(&self) -> u64 {
        self.state.borrow().round
    }

    /// Returns true if the [table must be written](Self::write_table), so that lost sums aren't
    /// reported again.
    pub(crate) fn have_gaps(&self) -> bool {
        self.has_gaps.get()
    }

    /// Passes the known sums on to the home pages.
    pub(crate) fn tell(&self, home: &Home) {
        let sums = &self.state.borrow().sums;
        let all = (0..).map(PageNumber).zip(sums.iter().copied());
        home.remember(all.filter(|(_, sum)| *sum != 0));
    }

    /// Enters changes and writes them, without a flush. The last entry of a page applies. Requires
    /// that the previous round is durable, with a ledger that names it.
    pub(crate) async fn write(&self, disk: &Rc<Disk>, entries: &[Entry]) -> Result<(), PageError> {
        {
            let state = &mut *self.state.borrow_mut();
            for entry in entries {
                state.enter(*entry);
            }
        }
        let needed = entries.len().div_ceil(ENTRIES_MAX) as u64;
        if needed <= self.area.chunks {
            let blocks = entries.chunks(ENTRIES_MAX);
            let blocks = blocks.map(|entries| LogBlock { entries: entries.to_vec(), table: 0 });
            return self.write_rounds(disk, &blocks.collect::<Vec<_>>()).await;
        }
        self.write_table(disk).await
    }

    /// Writes all chunks, which makes earlier writes obsolete.
    pub(crate) async fn write_table(&self, disk: &Rc<Disk>) -> Result<(), PageError> {
        let blocks = (1..).zip(0..self.area.chunks).map(|(table, _)| LogBlock { entries: Vec::new(), table });
        let before = self.round();
        self.write_rounds(disk, &blocks.collect::<Vec<_>>()).await?;
        debug_assert_eq!(self.round() - before, self.area.chunks, "each chunk was written once");
        self.has_gaps.set(false);
        Ok(())
    }

    /// Writes empty rounds until each chunk is newer than the last entry, without a flush, so that
    /// no log block is needed. Returns true if it wrote any. Skipped in large stores, where a bad
    /// log block then causes losses.
    pub(crate) async fn complete(&self, disk: &Rc<Disk>) -> Result<bool, PageError> {
        let after = self.round();
        let is_needed = self.complete_after.get().is_none() && after > 0;
        if !is_needed || self.area.chunks > COMPLETED_CHUNKS_MAX {
            return Ok(false);
        }
        let empty = (0..self.area.chunks).map(|_| LogBlock { entries: Vec::new(), table: 0 });
        self.write_rounds(disk, &empty.collect::<Vec<_>>()).await?;
        self.complete_after.set(Some(after));
        Ok(true)
    }

    /// Round after which every chunk was rewritten without new entries, if any.
    pub(crate) fn complete_after(&self) -> Option<u64> {
        self.complete_after.get()
    }

    async fn write_rounds(&self, disk: &Rc<Disk>, blocks: &[LogBlock]) -> Result<(), PageError> {
        self.complete_after.set(None);
        for blocks in blocks.chunks(ROUNDS_AT_ONCE) {
            self.rounds_of(blocks)?.send(disk, self.area).await?;
        }
        Ok(())
    }

    /// Encodes the next rounds with these log blocks.
    fn rounds_of(&self, blocks: &[LogBlock]) -> Result<Writes, PageError> {
        let (area, state) = (self.area, &mut *self.state.borrow_mut());
        let mut writes = Writes::default();
        for block in blocks {
            state.round += 1;
            let mut buffer = memory_of(&self.arena, BLOCK_BYTES)?;
            block.encode(area.id, state.round, &mut buffer);
            writes.log.add(area.log_block(state.round), buffer.freeze());
            let mut buffer = memory_of(&self.arena, BLOCK_BYTES)?;
            let chunk = area.chunk(state.round);
            encode_chunk(area.id, state.round, chunk, state.sums_of(chunk), &mut buffer);
            writes.table.add(area.chunk_block(state.round), buffer.freeze());
        }
        Ok(writes)
    }
}

impl SumsState {
    fn enter(&mut self, (page, sum): Entry) {
        let place = usize::try_from(page.0).ok().and_then(|place| self.sums.get_mut(place));
        let Some(place) = place else { unreachable!("{page} is one of the store's") };
        *place = sum;
    }

    fn sums_of(&self, chunk: u64) -> &[u32] {
        let sums = usize::try_from(chunk).ok().and_then(|chunk| self.sums.chunks(CHUNK_PAGES).nth(chunk));
        sums.unwrap_or_else(|| unreachable!("the area has chunk {chunk}"))
    }
}

/// Writes of several rounds.
#[derive(Default)]
struct Writes {
    log: Runs,
    table: Runs,
}

/// Adjacent blocks share a request.
#[derive(Default)]
struct Runs(Vec<(u64, WriteBuffers)>);

impl Runs {
    fn add(&mut self, block: u64, contents: Buffer) {
        match self.0.last_mut() {
            Some((first, run)) if *first + run.len() as u64 == block => run.push(contents),
            _ => self.0.push((block, [contents].into_iter().collect())),
        }
    }
}

impl Writes {
    async fn send(self, disk: &Rc<Disk>, area: Area) -> Result<(), PageError> {
        let runs = self.log.0.into_iter().chain(self.table.0);
        let offset_of = |block: u64| area.offset_bytes + block * BLOCK_BYTES as u64;
        let sent = runs.map(|(block, run)| disk.write("writing checksums of pages", offset_of(block), run));
        let mut result = Ok(());
        for writing in sent.collect::<Vec<_>>() {
            result = result.and(writing.await);
        }
        result
    }
}

/// Memory for the rounds written concurrently.
fn arena() -> Result<Arena, PageError> {
    Ok(Arena::new(2 * ROUNDS_AT_ONCE * BLOCK_BYTES)?)
}

#[cfg(test)]
mod tests;
