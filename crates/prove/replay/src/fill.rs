//! Fills a store before the work begins, like a store in long use.

use std::rc::Rc;

use nandle_pages::{PageError, Stats, Store};

use crate::batches::{batch, pieces};
use crate::contents::Contents;
use crate::cursor::Cursor;

/// Maximum pages of a range, which counts them in fewer bits than a store.
const RANGE_PAGES: u32 = 1 << 30;

/// Writes the first `pages` pages in order, and checkpoints. Ends early if the cursor is stopped.
pub(crate) async fn fill(
    store: Rc<Store>,
    cursor: Rc<Cursor>,
    contents: Contents,
    pages: u64,
    batch_pages: u32,
) -> Result<(), PageError> {
    let mut next = 0;
    while next < pages {
        let range = u32::try_from(pages - next).unwrap_or(u32::MAX).min(RANGE_PAGES);
        for (page, pages) in pieces(next, range, batch_pages) {
            if cursor.is_stopped() {
                return Ok(());
            }
            store.write(batch(&store, &cursor, contents, page, pages)?).await?;
        }
        next += u64::from(range);
    }
    store.checkpoint().await
}

/// Statistics since `then`. Current states, and what `auto` learned, are left as they are.
pub(crate) fn since(now: Stats, then: &Stats) -> Stats {
    let mut done = now;
    for (done, then) in [
        (&mut done.pages_written, then.pages_written),
        (&mut done.pages_read, then.pages_read),
        (&mut done.pages_absorbed, then.pages_absorbed),
        (&mut done.pages_straight, then.pages_straight),
        (&mut done.pages_destaged, then.pages_destaged),
        (&mut done.pages_cleaned, then.pages_cleaned),
        (&mut done.zones_freed, then.zones_freed),
        (&mut done.device_written_bytes, then.device_written_bytes),
        (&mut done.device_read_bytes, then.device_read_bytes),
        (&mut done.device_writes, then.device_writes),
        (&mut done.device_reads, then.device_reads),
        (&mut done.device_flushes, then.device_flushes),
        (&mut done.device_discards, then.device_discards),
    ] {
        *done = done.saturating_sub(then);
    }
    for (done, then) in done.instances.iter_mut().zip(&then.instances) {
        done.count = done.count.saturating_sub(then.count);
        done.pages = done.pages.saturating_sub(then.pages);
    }
    done
}
