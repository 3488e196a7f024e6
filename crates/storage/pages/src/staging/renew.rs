//! Writes once more what an opening finds and isn't known to be durable.
//!
//! A drive whose flush failed may show what it holds only in its cache, and never writes it: a later flush succeeds, and a
//! power cut takes it away (Rebello et al., "Can Applications Recover from fsync Failures?", USENIX ATC 2020, found file
//! systems of which this is true). An opening can't tell that from a power cut that everything survived. So the groups
//! behind the last one of which something later says that it is durable are read, and written to free room; then come a
//! flush, and the ledger that names the new extents and not the old ones. Before it is durable the old ones count, after
//! it the new ones: the new ones are no part of the chain.
//!
//! There is room: what isn't durable is either one group or no more than a [limit](super::format::at_risk_max), and when all others have
//! gone home that fits beside itself. Until that ledger is durable none of it goes home.

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

/// The newest of what the tail says of a page.
struct Newest {
    page: PageNumber,
    /// Where its contents are, and their checksum; none if it was discarded.
    contents: Option<(Slot, u32)>,
}

/// Begins the epoch of an opening that found such extents, or none.
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
    // The ledger may be volatile too, and then what it calls dead isn't free yet.
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
        // Its memory is for the next piece.
        engine.log.tail.wait_until_written(sequence).await?;
    }
    if Defect::RenewalUnflushed.is_seeded() { Ok(()) } else { engine.context.disk.flush().await }
}

/// What the tail says last of each page.
fn newest_of(tail: &[Header]) -> Vec<Newest> {
    debug_assert!(tail.is_sorted_by_key(|header| header.sequence), "the last of a page counts");
    let mut seen = FxHashSet::default();
    let mut newest = Vec::new();
    for header in tail.iter().rev() {
        let extent = header.position;
        let puts = header.pages.iter().enumerate();
        let puts = puts.map(|(index, (page, sum))| (*page, Some((Slot { extent, index }, *sum))));
        // A page is in an extent once: as contents or as a discard.
        for (page, contents) in puts.chain(header.discards.iter().map(|page| (*page, None))) {
            if seen.insert(page) {
                newest.push(Newest { page, contents });
            }
        }
    }
    newest
}

/// Pages that are in memory at the same time.
fn piece_pages(engine: &Engine) -> usize {
    (engine.context.arena.bytes() / 4 / engine.context.label.page_length()).max(1)
}

/// Destages everything else if it stands in the way of so many pages.
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
