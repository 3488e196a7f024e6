use nandle_pages::BatchNumber;

use super::held::{Held, Page};
use super::record::{Change, Promise, Record, of_client};
use crate::contents::Found;

/// Contents after a recovery.
#[derive(Debug)]
pub(crate) struct Looked {
    pub(crate) pages: u64,
    /// Contents of the used pages.
    pub(crate) found: Vec<Found>,
    /// Last batch reported by the opening.
    pub(crate) last: BatchNumber,
}

/// Checks a recovery against the promise. Returns the pages' contents for the next life.
pub(crate) fn judge(record: &Record, promised: &Promise, looked: &Looked) -> Result<Vec<Page>, String> {
    record.check_pages(looked.pages, promised.pages)?;
    if looked.last < promised.number {
        let (last, number) = (looked.last, promised.number);
        return Err(format!("the opening says that {last} is the last, and {number} had been told"));
    }
    let (promised, found) = (promised.batches.as_slice(), looked.found.as_slice());
    assert_eq!(promised.len(), record.clients(), "a promise is to all clients");
    let counts = if record.promises().atomic_batch {
        explain(record, promised, found)?
    } else {
        page_by_page(record, promised, found)?;
        promised.to_vec()
    };
    let next = (0..).zip(found).map(|(page, found)| {
        let owner = record.owner(page);
        let count = *of_client(&counts, owner);
        next_base(record, page, count, *found)
    });
    Ok(next.collect())
}

/// Finds the smallest numbers of batches, by client, that explain all pages.
fn explain(record: &Record, promised: &[usize], found: &[Found]) -> Result<Vec<usize>, String> {
    let mut counts = promised.to_vec();
    let fitting: Vec<Vec<bool>> =
        (0..record.clients()).map(|client| fitting(record, client, found)).collect();
    loop {
        let (before, mut next) = (counts, Vec::new());
        for client in 0..record.clients() {
            let least = needed(record, client, &before);
            let fitting = fitting.get(client).into_iter().flatten().enumerate();
            let count = fitting.skip(least).find_map(|(count, fits)| fits.then_some(count));
            next.push(count.ok_or_else(|| complaint(record, client, least, found))?);
        }
        if next == before {
            return Ok(next);
        }
        counts = next;
    }
}

/// For each number of a client's batches, true if the client's pages match it.
fn fitting(record: &Record, client: usize, found: &[Found]) -> Vec<bool> {
    let batches = record.batches_of(client).len();
    let mut fitting = vec![true; batches + 1];
    for (page, found) in (0..).zip(found).filter(|(page, _)| record.owner(*page) == client) {
        let mut state = record.page_after(page, 0);
        let mut from = 0;
        for (batch, change) in record.changes_of(page).chain([(batches, Change::Discard)]) {
            if !state.allows(*found) {
                fitting.iter_mut().take(batch + 1).skip(from).for_each(|fits| *fits = false);
            }
            state = state.after(change, record.promises().torn_page_safe);
            from = batch + 1;
        }
    }
    fitting
}

/// Smallest number of a client's batches that the other clients' batches depend on.
fn needed(record: &Record, client: usize, counts: &[usize]) -> usize {
    let others = record.batches.iter().zip(counts).filter_map(|(batches, count)| {
        let last = batches.get(count.checked_sub(1)?)?;
        last.needs.get(client).copied()
    });
    others.fold(*of_client(counts, client), usize::max)
}

/// Describes the mismatch for the number of batches that explains the most pages.
fn complaint(record: &Record, client: usize, least: usize, found: &[Found]) -> String {
    let batches = record.batches_of(client).len();
    let wrong = |count: usize| -> Vec<String> {
        let pages = (0..).zip(found).filter(|(page, _)| record.owner(*page) == client);
        let pages = pages.map(|(page, found)| (page, found, record.page_after(page, count)));
        let wrong = pages.filter(|(_, found, expected)| !expected.allows(**found));
        wrong
            .map(|(page, found, expected)| format!("page {page} holds {found}, not {}", expected.held))
            .collect()
    };
    let nearest = (least..=batches).map(|count| (wrong(count), count)).min_by_key(|(wrong, _)| wrong.len());
    let Some((wrong, count)) = nearest else {
        return format!("{least} batches of client {client} must be there, which asked for {batches}");
    };
    format!(
        "of {batches} batches of client {client}, {least} or more must be there (promised, or needed by what is \
         there); the nearest explanation is that {count} are, but then {}",
        wrong.join(", ")
    )
}

/// Checks each page alone, for policies without atomic batches.
fn page_by_page(record: &Record, promised: &[usize], found: &[Found]) -> Result<(), String> {
    for (page, found) in (0..).zip(found) {
        let count = *of_client(promised, record.owner(page));
        let promised_page = record.page_after(page, count);
        let mut later = record.changes_of(page).filter(|(batch, _)| *batch >= count).peekable();
        let is_under_way = later.peek().is_some();
        let is_later = later.any(|(_, change)| match (change, found) {
            (Change::Put(version), Found::Whole(found)) => version == *found,
            (Change::Discard, _) => true,
            (Change::Put(_), Found::Other | Found::Nothing) => false,
        });
        let may_tear = is_under_way && *found == Found::Other && !record.promises().torn_page_safe;
        if !(promised_page.allows(*found) || is_later || may_tear) {
            return Err(format!("page {page} holds {found}; promised was {}", promised_page.held));
        }
    }
    Ok(())
}

/// Page at the start of the next life. It counts as discarded where a discard explains its
/// contents.
fn next_base(record: &Record, page: u64, count: usize, found: Found) -> Page {
    let later = record.changes_of(page).filter(|(batch, _)| *batch >= count);
    let states = later.map(|(batch, _)| batch + 1).chain([count]).map(|count| record.page_after(page, count));
    let mut fitting: Vec<Page> = states.filter(|state| state.allows(found)).collect();
    let discarded = fitting.iter().rposition(|state| !matches!(state.held, Held::Version(_)));
    match discarded.map(|index| fitting.swap_remove(index)).or_else(|| fitting.pop()) {
        Some(state) => state.found(found),
        None => record.page_after(page, count).found(found),
    }
}
