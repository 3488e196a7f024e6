//! What an opening reads of the checksums of home pages: see the [format](super::format).

use std::cell::{Cell, RefCell};

use super::format::{CHUNK_PAGES, LogBlock, decode_chunk};
use super::{Area, HomeSums, SumsState, arena};
use crate::extents::Scan;
use crate::{BLOCK_BYTES, PageError, PageNumber};

/// Requests of so many bytes at most.
const READ_BYTES: u64 = 1 << 20;

/// The sums as of a round; none if the store keeps none. With `may_forget` those that are lost are unknown from now on, else
/// that is an error.
pub(crate) async fn recover(
    scan: &Scan<'_>,
    round: u64,
    may_forget: bool,
) -> Result<Option<HomeSums>, PageError> {
    let Some(area) = Area::of(scan.label) else { return Ok(None) };
    // Nothing was ever written: nothing has to be read.
    let blocks = if round == 0 { Vec::new() } else { read(scan).await? };
    let found = Found { area, round, blocks: &blocks };
    let logs = found.logs();
    // Nor can what was written before the first log block that is left.
    let before_logs = logs.first().map_or(0, |first| first.round - 1);
    let lost_before = logs.iter().filter_map(Log::lost_before).fold(before_logs, u64::max);
    let mut has_gaps = false;
    let mut chunks: Vec<Chunk> = (0..area.chunks).map(|chunk| found.chunk(chunk)).collect();
    for (first, chunk) in (0..).step_by(CHUNK_PAGES).zip(&mut chunks) {
        if chunk.round < lost_before {
            if !may_forget {
                let offset_bytes = scan.label.sums_offset;
                return Err(PageError::SumsLost { first: PageNumber(first), offset_bytes });
            }
            has_gaps = true;
            *chunk = Chunk { round: lost_before, sums: vec![0; CHUNK_PAGES] };
        }
    }
    replay(&mut chunks, &logs);
    let sums = chunks.into_iter().flat_map(|chunk| chunk.sums).collect();
    let (state, has_gaps) = (RefCell::new(SumsState { round, sums }), Cell::new(has_gaps));
    Ok(Some(HomeSums { area, arena: arena()?, state, has_gaps }))
}

/// Enters what the log says into chunks that don't have it yet.
fn replay(chunks: &mut [Chunk], logs: &[Log]) {
    for Log { round, block } in logs {
        for (page, sum) in block.iter().flat_map(|block| &block.entries) {
            let number = usize::try_from(page.0).unwrap_or(usize::MAX);
            let chunk = chunks.get_mut(number / CHUNK_PAGES).filter(|chunk| chunk.round < *round);
            if let Some(place) = chunk.and_then(|chunk| chunk.sums.get_mut(number % CHUNK_PAGES)) {
                *place = *sum;
            }
        }
    }
}

async fn read(scan: &Scan<'_>) -> Result<Vec<u8>, PageError> {
    let mut blocks = Vec::new();
    while (blocks.len() as u64) < scan.label.sums_bytes {
        let done_bytes = blocks.len() as u64;
        let length_bytes = (scan.label.sums_bytes - done_bytes).min(READ_BYTES);
        blocks.extend_from_slice(&scan.read(scan.label.sums_offset + done_bytes, length_bytes).await?);
    }
    Ok(blocks)
}

/// A chunk of the table as a round wrote it; 0 if none did.
struct Chunk {
    round: u64,
    sums: Vec<u32>,
}

/// A round and its log block, if that is there.
struct Log {
    round: u64,
    block: Option<LogBlock>,
}

impl Log {
    /// What was written before this round can't be brought up to date.
    fn lost_before(&self) -> Option<u64> {
        match &self.block {
            None => Some(self.round),
            Some(block) if block.table > 0 => Some((self.round + 1).saturating_sub(block.table.into())),
            Some(_) => None,
        }
    }
}

/// The area of sums as it was read.
struct Found<'a> {
    area: Area,
    round: u64,
    blocks: &'a [u8],
}

impl Found<'_> {
    fn block(&self, block: u64) -> &[u8] {
        let block = usize::try_from(block).unwrap_or(usize::MAX);
        self.blocks.chunks(BLOCK_BYTES).nth(block).unwrap_or_default()
    }

    /// The log blocks of the rounds that the ring holds.
    fn logs(&self) -> Vec<Log> {
        let first = (self.round + 1).saturating_sub(2 * self.area.chunks).max(1);
        let block_of = |round| self.block(self.area.log_block(round));
        let log = |round| Log { round, block: LogBlock::decode(self.area.id, round, block_of(round)) };
        (first..=self.round).map(log).collect()
    }

    /// A chunk as it was written last, or the time before.
    fn chunk(&self, chunk: u64) -> Chunk {
        let newest = self.area.newest(chunk, self.round).unwrap_or(0);
        let older = newest.saturating_sub(self.area.chunks);
        let written = [newest, older].into_iter().filter(|round| *round > 0);
        let mut found = written.filter_map(|round| {
            let block = self.block(self.area.chunk_block(round));
            decode_chunk(self.area.id, round, chunk, block).map(|sums| Chunk { round, sums })
        });
        found.next().unwrap_or_else(|| Chunk { round: 0, sums: vec![0; CHUNK_PAGES] })
    }
}
