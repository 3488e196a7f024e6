//! Rewrites extents found by an opening that may not be durable.
//!
//! After a failed flush a drive may show data that exists only in its cache and is never written. A
//! later flush succeeds, and a power cut loses the data (Rebello et al., "Can Applications Recover
//! from fsync Failures?", USENIX ATC 2020, observed this with file systems). An opening can't
//! distinguish this from a power cut that everything survived. It therefore reads the groups behind
//! the last one known to be durable, and writes them to free room. A flush follows, and then a
//! ledger that names the new extents instead of the old ones. Until that ledger is durable the old
//! extents count, as the new ones aren't part of the chain.
//!
//! There is enough room: volatile data is either one group or at most a
//! [limit](super::format::at_risk_max), and both copies fit once all other pages are destaged.
//! Nothing of it is destaged before that ledger is durable.

use std::rc::Rc;

use rustc_hash::FxHashSet;

use super::engine::Engine;
use super::header::{ENTRIES_MAX, Header};
use super::log::StagedPages;
use super::space::Slot;
use crate::batch::Change;
use crate::defects::Defect;
use crate::memory::memory_of;
use crate::page::checksum;
use crate::write_log::Versions;
use crate::{Batch, PageError, PageNumber};

/// Newest version of a page in the tail.
struct Newest {
    page: PageNumber,
    /// Place and checksum of its contents; `None` if it was discarded.
    contents: Option<(Slot, u32)>,
}

/// Begins the epoch of an opening, after rewriting the tail if there is one.
pub(super) async fn begin(engine: &Rc<Engine>, tail: &[Header]) -> Result<(), PageError> {
    if !tail.is_empty() {
        write_again(engine, tail).await?;
    }
    let epoch = engine.reclaimer.begin_epoch(tail).await?;
    engine.log.versions_mut().begin_epoch(epoch);
    engine.destager.add_group_to_order();
    Ok(())
}

async fn write_again(engine: &Rc<Engine>, tail: &[Header]) -> Result<(), PageError> {
    // The ledger may be volatile too, so its dead slots can't be reused yet.
    engine.reclaimer.persist_dead_slots().await?;
    let newest = newest_of(tail);
    let piece_pages = piece_pages(engine);
    make_room_for(engine, newest.len(), piece_pages).await?;
    for piece in newest.chunks(piece_pages) {
        debug_assert_eq!(engine.log.gathered(), 0, "a renewal is all that is written");
        let mut changes = Vec::with_capacity(piece.len());
        for found in piece {
            changes.push((found.page, change_of(engine, found).await?));
        }
        engine.log.gather(Batch::of(changes));
        let sequence = engine.push().await?;
        // Releases memory for the next piece.
        engine.log.tail.wait_until_written(sequence).await?;
    }
    if Defect::RenewalUnflushed.is_seeded() { Ok(()) } else { engine.context.disk.flush().await }
}

/// Newest version of each page in the tail.
fn newest_of(tail: &[Header]) -> Vec<Newest> {
    debug_assert!(tail.is_sorted_by_key(|header| header.sequence), "the last of a page counts");
    let mut seen = FxHashSet::default();
    let mut newest = Vec::new();
    for header in tail.iter().rev() {
        let extent = header.position;
        let puts = header.pages.iter().enumerate();
        let puts = puts.map(|(index, (page, sum))| (*page, Some((Slot { extent, index }, *sum))));
        // A page occurs once in an extent, as contents or as a discard.
        for (page, contents) in puts.chain(header.discards.iter().map(|page| (*page, None))) {
            if seen.insert(page) {
                newest.push(Newest { page, contents });
            }
        }
    }
    newest
}

/// Number of pages in memory at a time.
fn piece_pages(engine: &Engine) -> usize {
    (engine.context.arena.bytes() / 4 / engine.context.label.page_length()).max(1)
}

/// Destages all other pages if `pages` pages don't fit otherwise.
async fn make_room_for(engine: &Rc<Engine>, pages: usize, piece_pages: usize) -> Result<(), PageError> {
    let headers = pages.div_ceil(piece_pages) * piece_pages.div_ceil(ENTRIES_MAX);
    let needed_blocks = pages as u64 * engine.context.label.page_blocks() + headers as u64;
    if engine.reclaimer.longest_room_blocks() >= needed_blocks {
        return Ok(());
    }
    engine.destager.destage_everything().await
}

async fn change_of(engine: &Engine, found: &Newest) -> Result<Change, PageError> {
    let Some((slot, expected)) = found.contents else { return Ok(Change::Discard) };
    let into = memory_of(&engine.context.arena, engine.context.label.page_length())?;
    let contents = engine.context.read_slot(slot, into).await?;
    let got = checksum(found.page, &contents);
    if got == expected {
        Ok(Change::Put(contents))
    } else {
        Err(StagedPages::damage(found.page, got, expected))
    }
}
