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

/// The staging area must hold a few batches of a few pages.
const LEAST_PAGES: u64 = 8;
/// Length of an extent for which the header's share is negligible.
const LONG_EXTENT_PAGES: usize = 32;

/// Length of a ledger copy and of the staging area.
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

/// Writes the ledger and the staging area of a new store, without a flush. The rest is wiped, which
/// removes apparent extents of this store and leaves no holes in its file.
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

/// Maximum number of changes of a group: pages that fit a quarter of the staging area. It always
/// fits once all other pages are destaged, even if an opening has to rewrite it, as its extents are
/// long.
pub(crate) fn largest_group(label: &Label) -> usize {
    fitting_pages(label.area_blocks() / 4, label.page_blocks(), ENTRIES_MAX)
}

/// Maximum number of volatile changes of several groups: a quarter of the staging area, even with
/// one page per extent. A larger group must be the only volatile one.
pub(crate) fn at_risk_max(label: &Label) -> usize {
    let blocks = label.area_blocks() / 4;
    to_usize(blocks / (1 + label.page_blocks()))
}

/// Minimum pages per extent of such a group, while destaging other pages can make room.
pub(crate) fn least_extent_pages(label: &Label, group_changes: usize) -> usize {
    if group_changes > at_risk_max(label) { LONG_EXTENT_PAGES } else { 1 }
}
