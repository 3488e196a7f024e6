use nandle_io::Buffer;

use super::Side;
use crate::{Batch, PageError, PageNumber};

/// Maximum pages per commit.
const COMMIT_PAGES: usize = 4096;
/// Fraction of a store's memory for a commit, as a divisor.
const MEMORY_SHARE: usize = 4;

/// Copies all pages. Unknown pages that read as zeros stay holes.
///
/// # Panics
/// The old store has a header, which would be lost. No earlier format has one.
pub(super) fn copy_pages(old: &Side, new: &Side) -> Result<(), PageError> {
    assert_eq!(old.store.label().header_page, None, "a conversion copies no header");
    let known = old.store.known();
    // Without checksums no home page counts as known, so all pages are copied.
    let has_homes = old.store.homes_offset_bytes().is_some();
    let all = if has_homes { (0..old.store.pages()).map(PageNumber).collect() } else { known.clone() };
    let memory_pages = new.store.memory_bytes() / MEMORY_SHARE / new.store.page_bytes();
    let most = new.store.largest_batch().min(memory_pages).clamp(1, COMMIT_PAGES);
    for pages in all.chunks(most) {
        let contents = old.runtime.block_on(old.store.read_many(pages))?;
        let mut batch = Batch::new();
        for (page, contents) in pages.iter().zip(&contents) {
            if known.binary_search(page).is_ok() || contents.iter().any(|byte| *byte != 0) {
                batch.put(*page, copy_of(contents, new)?);
            }
        }
        if !batch.is_empty() {
            new.runtime.block_on(new.store.commit(batch))?;
        }
    }
    Ok(())
}

fn copy_of(contents: &Buffer, new: &Side) -> Result<Buffer, PageError> {
    let mut buffer = new.store.buffer()?;
    debug_assert_eq!(buffer.len(), contents.len(), "both stores have pages of the same length");
    buffer.copy_from_slice(contents);
    Ok(buffer.freeze())
}
