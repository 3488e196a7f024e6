use std::rc::Rc;

use nandle_io::Arena;

use super::header::ENTRIES_MAX;
use super::ledger::Ledger;
use crate::disk::Disk;
use crate::extents::{Stamp, fitting_pages, write_first};
use crate::label::Label;
use crate::size::to_usize;
use crate::wipe::Wiper;
use crate::{BLOCK_BYTES, BatchNumber, CreateOptions, PageError};

/// The staging area can hold a few batches of a few pages.
const LEAST_PAGES: u64 = 8;
/// In extents of so many pages headers take hardly any room.
const LONG_EXTENT_PAGES: usize = 32;

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
    let arena = Arena::new(to_usize(label.ledger_bytes))?;
    let ledger = Ledger { durable: last.0, ..Ledger::empty(label.area_blocks()) };
    write_first(disk, label, &arena, |copy| ledger.encode(label.id, Stamp::default(), copy)).await?;
    let directory_end = label.directory_offset() + label.directory_blocks() * BLOCK_BYTES as u64;
    let wiper = Wiper::new()?;
    wiper.wipe(disk, label.sums_offset..directory_end).await?;
    wiper.wipe(disk, label.area_offset..label.area_offset + label.area_bytes).await
}

/// The most changes of a group: pages that fit into a quarter of the staging area. There is always room for it when all others
/// have gone home, and an opening has room to write it once more: its extents are long.
pub(crate) fn largest_group(label: &Label) -> usize {
    fitting_pages(label.area_blocks() / 4, label.page_blocks(), ENTRIES_MAX)
}

/// The most changes that several groups may have together that aren't durable: a quarter of the staging area, even if each page
/// has an extent of its own. Groups with more changes are at risk one by one.
pub(crate) fn at_risk_max(label: &Label) -> usize {
    let blocks = label.area_blocks() / 4;
    to_usize(blocks / (1 + label.page_blocks()))
}

/// Pages that the extents of such a group have at least, as long as other pages can go home to make room.
pub(crate) fn least_extent_pages(label: &Label, group_changes: usize) -> usize {
    if group_changes > at_risk_max(label) { LONG_EXTENT_PAGES } else { 1 }
}
