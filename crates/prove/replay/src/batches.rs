//! The batches that a step of the work becomes.

use nandle_pages::{Batch, PageError, PageNumber, Store};

use crate::candidate::CandidateOptions;
use crate::contents::Contents;
use crate::cursor::Cursor;

/// The most pages of a batch, whatever the store takes: as many buffers as one system call does.
const BATCH_PAGES_MAX: usize = 1024;

/// New contents for some pages. Their versions follow the order of the calls, as the store's writes do.
pub(crate) fn batch(
    store: &Store,
    cursor: &Cursor,
    contents: Contents,
    page: u64,
    pages: u32,
) -> Result<Batch, PageError> {
    let mut batch = Batch::new();
    for page in page..page + u64::from(pages) {
        let mut buffer = store.buffer()?;
        contents.fill(&mut buffer, page, cursor.new_version(page));
        batch.put(PageNumber(page), buffer.freeze());
    }
    Ok(batch)
}

/// The most pages of a batch: what the policy takes as a whole, and what each client has memory for at the same time.
pub(crate) fn batch_pages(store: &Store, options: CandidateOptions) -> u32 {
    let page_bytes = store.page_bytes();
    let memory_pages = options.open.memory_bytes / page_bytes / 2;
    let clients = (options.queue_depth as usize).max(1);
    let pages = store.largest_batch().min(memory_pages / clients).clamp(1, BATCH_PAGES_MAX);
    u32::try_from(pages).unwrap_or_else(|_| unreachable!("{pages} pages are at most {BATCH_PAGES_MAX}"))
}

/// A range in pieces that fit a batch. No request to a block device promises to be there as a whole or not at all after a
/// power cut, so nothing that the trace counts on is lost.
pub(crate) fn pieces(page: u64, pages: u32, batch_pages: u32) -> impl Iterator<Item = (u64, u32)> {
    let offsets = (0..pages).step_by(batch_pages as usize);
    offsets.map(move |offset| (page + u64::from(offset), (pages - offset).min(batch_pages)))
}

pub(crate) fn discard(cursor: &Cursor, page: u64, pages: u32) -> Batch {
    let mut batch = Batch::new();
    for page in page..page + u64::from(pages) {
        cursor.forget(page);
        batch.discard(PageNumber(page));
    }
    batch
}
