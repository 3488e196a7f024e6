//! Reads staged pages back, and checks them, before they are destaged. An unreadable page stays in
//! the staging area.

use std::collections::VecDeque;

use nandle_io::Buffer;

use super::log::{StagedPages, StagingLog};
use super::table::Entry;
use crate::disk::Reading;
use crate::memory::memory_of;
use crate::page::checksum;
use crate::write_log::{Context, Versions};
use crate::{PageError, PageNumber};

/// Reads in flight, each with the index of its version.
type Coming = VecDeque<(usize, Reading)>;

/// Versions read back.
pub(super) struct ReadBack {
    /// Contents of each version. `None` for a lost page, and for one superseded meanwhile, whose
    /// slot may have been reused.
    pub(super) contents: Vec<Option<Buffer>>,
    /// Unreadable or damaged pages, with the errors.
    pub(super) lost: Vec<(PageNumber, PageError)>,
}

/// Reads all versions, with at most `depth` reads in flight.
pub(super) async fn read_back(
    context: &Context,
    log: &StagingLog,
    versions: &[(PageNumber, Entry)],
    depth: impl Fn() -> usize,
) -> Result<ReadBack, PageError> {
    let mut coming = Coming::new();
    let mut found = ReadBack { contents: Vec::with_capacity(versions.len()), lost: Vec::new() };
    for (place, (_, entry)) in versions.iter().enumerate() {
        found.contents.push(entry.memory.clone());
        if entry.memory.is_some() {
            continue;
        }
        while coming.len() >= depth().max(1) {
            oldest_of(log, versions, &mut coming, &mut found).await?;
        }
        let into = memory_of(&context.arena, context.label.page_length())?;
        let offset_bytes = context.offset_of(entry.slot);
        coming.push_back((place, context.disk.read("reading a staged page back", offset_bytes, into)));
    }
    while !coming.is_empty() {
        oldest_of(log, versions, &mut coming, &mut found).await?;
    }
    debug_assert_eq!(found.contents.len(), versions.len(), "contents of each version, or none");
    Ok(found)
}

/// Awaits the oldest read, and checks its contents.
async fn oldest_of(
    log: &StagingLog,
    versions: &[(PageNumber, Entry)],
    coming: &mut Coming,
    found: &mut ReadBack,
) -> Result<(), PageError> {
    let Some((place, read)) = coming.pop_front() else { unreachable!("a read is on its way") };
    let (Some((page, entry)), Some(into)) = (versions.get(place), found.contents.get_mut(place)) else {
        unreachable!("a read is of one of the versions, each of which has a place")
    };
    debug_assert!(into.is_none(), "what is in memory isn't read");
    let read = read.await.and_then(|buffer| {
        let got = checksum(*page, &buffer);
        if got == entry.sum { Ok(buffer) } else { Err(StagedPages::damage(*page, got, entry.sum)) }
    });
    match read {
        Ok(buffer) => *into = Some(buffer),
        Err(error) if !error.is_lost_page() => return Err(error),
        Err(error) if is_newest(log, *page, entry.sequence) => found.lost.push((*page, error)),
        // The slot may have been reused.
        Err(_) => {}
    }
    Ok(())
}

/// Returns true if this version is the newest of its page.
pub(super) fn is_newest(log: &StagingLog, page: PageNumber, sequence: u64) -> bool {
    log.versions().get(page).is_some_and(|newest| newest.sequence == sequence)
}
