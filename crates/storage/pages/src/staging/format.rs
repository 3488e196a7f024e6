use std::ops::Range;
use std::rc::Rc;

use nandle_io::{Arena, Buffer, WriteBuffers};

use super::ledger::Ledger;
use crate::disk::Disk;
use crate::extents::{Stamp, write_first};
use crate::label::Label;
use crate::size::to_usize;
use crate::{BLOCK_BYTES, BatchNumber, CreateOptions, PageError};

/// The staging area can hold a few batches of a few pages.
const LEAST_PAGES: u64 = 8;
const WIPE_BYTES: usize = 1 << 20;

/// Bytes of a ledger copy and of the staging area.
pub(crate) fn areas(options: &CreateOptions) -> Result<(u64, u64), PageError> {
    let blocks = options.buffer_bytes / BLOCK_BYTES as u64;
    let page_blocks = options.page_bytes.div_ceil(BLOCK_BYTES) as u64;
    let least_blocks = LEAST_PAGES * (1 + page_blocks);
    if blocks < least_blocks {
        let least = least_blocks * BLOCK_BYTES as u64;
        return Err(PageError::BufferSize { got: options.buffer_bytes, least });
    }
    Ok((Ledger::bytes(blocks) as u64, blocks * BLOCK_BYTES as u64))
}

/// Writes the ledger and the staging area of a new store, not flushed. All but the ledger is wiped, so that nothing in it can be
/// taken for an extent of this store, and so that its file has no holes.
pub(crate) async fn format(disk: &Rc<Disk>, label: &Label, last: BatchNumber) -> Result<(), PageError> {
    if label.area_bytes == 0 {
        return Ok(());
    }
    let ledger_bytes = to_usize(label.ledger_bytes);
    let arena = Arena::new(WIPE_BYTES + ledger_bytes)?;
    let ledger = Ledger { durable: last.0, ..Ledger::empty(label.area_blocks()) };
    write_first(disk, label, &arena, |copy| ledger.encode(label.id, Stamp::default(), copy)).await?;
    let mut zeros = arena.allocate(WIPE_BYTES)?;
    zeros.fill(0);
    let zeros = zeros.freeze();
    // The marks of a close and the checksums are behind one another.
    let behind_ledgers = label.ledger_at(label.ledger_copies);
    wipe(disk, behind_ledgers..label.sums_offset + label.sums_bytes, &zeros).await?;
    wipe(disk, label.area_offset..label.area_offset + label.area_bytes, &zeros).await
}

async fn wipe(disk: &Rc<Disk>, range: Range<u64>, zeros: &Buffer) -> Result<(), PageError> {
    debug_assert!(range.start <= range.end && range.start.is_multiple_of(BLOCK_BYTES as u64), "{range:?}");
    let mut offset_bytes = range.start;
    while offset_bytes < range.end {
        let bytes = (range.end - offset_bytes).min(WIPE_BYTES as u64);
        let piece = zeros.slice(0..to_usize(bytes));
        let from: WriteBuffers = [piece].into_iter().collect();
        disk.write("wiping the staging area", offset_bytes, from).await?;
        offset_bytes += bytes;
    }
    Ok(())
}

/// The most changes of a group: a quarter of the staging area, even if each page had an extent of its own. So there is always
/// room for a group when all others have gone home.
pub(crate) fn largest_group(label: &Label) -> usize {
    let blocks = label.area_blocks() / 4;
    to_usize(blocks / (1 + label.page_blocks()))
}
