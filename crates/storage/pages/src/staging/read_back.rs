//! Staged pages that aren't in memory any more are read back, and checked, before they go home.

use std::collections::VecDeque;

use nandle_io::Buffer;

use super::log::{StagedPages, StagingLog};
use super::table::Entry;
use crate::disk::Reading;
use crate::page::checksum;
use crate::write_log::{Context, Versions};
use crate::{PageError, PageNumber};

/// Reads on their way, each with the place of its version.
type Coming = VecDeque<(usize, Reading)>;

/// The contents of all versions, with at most `depth` reads at the device. None for a page of which a newer version came
/// meanwhile, so that its slot may hold another page by now.
pub(super) async fn read_back(
    context: &Context,
    log: &StagingLog,
    versions: &[(PageNumber, Entry)],
    depth: impl Fn() -> usize,
) -> Result<Vec<Option<Buffer>>, PageError> {
    let mut coming = Coming::new();
    let mut contents = Vec::with_capacity(versions.len());
    for (place, (_, entry)) in versions.iter().enumerate() {
        contents.push(entry.memory.clone());
        if entry.memory.is_some() {
            continue;
        }
        while coming.len() >= depth().max(1) {
            oldest_of(log, versions, &mut coming, &mut contents).await?;
        }
        let into = context.arena.allocate(context.label.page_length())?;
        let offset_bytes = context.offset_of(entry.slot);
        coming.push_back((place, context.disk.read("reading a staged page back", offset_bytes, into)));
    }
    while !coming.is_empty() {
        oldest_of(log, versions, &mut coming, &mut contents).await?;
    }
    debug_assert_eq!(contents.len(), versions.len(), "contents of each version, or none");
    Ok(contents)
}

/// Waits for the read that has been on its way longest, and checks what it brings.
async fn oldest_of(
    log: &StagingLog,
    versions: &[(PageNumber, Entry)],
    coming: &mut Coming,
    contents: &mut [Option<Buffer>],
) -> Result<(), PageError> {
    let Some((place, read)) = coming.pop_front() else { unreachable!("a read is on its way") };
    let (Some((page, entry)), Some(into)) = (versions.get(place), contents.get_mut(place)) else {
        unreachable!("a read is of one of the versions, each of which has a place")
    };
    debug_assert!(into.is_none(), "what is in memory isn't read");
    let buffer = read.await?;
    let got = checksum(*page, &buffer);
    if got == entry.sum {
        *into = Some(buffer);
    } else if log.versions().get(*page).is_some_and(|newest| newest.sequence == entry.sequence) {
        return Err(StagedPages::damage(*page, got, entry.sum));
    }
    Ok(())
}
