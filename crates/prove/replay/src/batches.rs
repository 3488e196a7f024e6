//! Splits steps of the work into batches.

use nandle_pages::{Batch, PageError, PageNumber, Store};

use crate::candidate::CandidateOptions;
use crate::contents::Contents;
use crate::cursor::Cursor;

/// Maximum pages of a batch: the number of buffers that one system call takes.
const BATCH_PAGES_MAX: usize = 1024;

/// Creates a batch with new contents. Versions are assigned in call order, like the store's writes.
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

/// Returns the maximum pages of a batch: what the policy accepts, and what the memory allows for
/// each concurrent client.
pub(crate) fn batch_pages(store: &Store, options: CandidateOptions) -> u32 {
    let page_bytes = store.page_bytes();
    let memory_pages = options.open.memory_bytes / page_bytes / 2;
    let clients = (options.queue_depth as usize).max(1);
    let pages = store.largest_batch().min(memory_pages / clients).clamp(1, BATCH_PAGES_MAX);
    u32::try_from(pages).unwrap_or_else(|_| unreachable!("{pages} pages are at most {BATCH_PAGES_MAX}"))
}

/// Splits a range into pieces that fit a batch. A block device doesn't promise atomicity of a
/// request across a power cut, so the trace can't depend on it.
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
