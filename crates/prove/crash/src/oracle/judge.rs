use super::held::{Held, Page};
use super::record::{Change, Record};
use crate::contents::Found;

/// Says what is wrong with what a recovery found in the pages, when so many batches of each client were promised; or
/// else what the pages hold from now on.
pub(crate) fn judge(record: &Record, promised: &[usize], found: &[Found]) -> Result<Vec<Page>, String> {
    let counts = if record.promises().atomic_batch {
        explain(record, promised, found)?
    } else {
        page_by_page(record, promised, found)?;
        promised.to_vec()
    };
    let next = (0..).zip(found).map(|(page, found)| {
        let owner = record.owner(page);
        let count = counts.get(owner).copied().unwrap_or(0);
        next_base(record, page, count, *found)
    });
    Ok(next.collect())
}

/// The least numbers of batches, one for each client, that explain all pages.
fn explain(record: &Record, promised: &[usize], found: &[Found]) -> Result<Vec<usize>, String> {
    let mut counts = promised.to_vec();
    let fitting: Vec<Vec<bool>> =
        (0..record.clients()).map(|client| fitting(record, client, found)).collect();
    loop {
        let before = counts.clone();
        for client in 0..record.clients() {
            let fitting = fitting.get(client).map(Vec::as_slice).unwrap_or_default();
            let least = needed(record, client, &before);
            let count = (least..fitting.len()).find(|count| fitting.get(*count) == Some(&true));
            let count = count.ok_or_else(|| complaint(record, client, least, found))?;
            if let Some(entry) = counts.get_mut(client) {
                *entry = count;
            }
        }
        if counts == before {
            return Ok(counts);
        }
    }
}

/// For each number of a client's batches, whether its pages hold what that many leave.
fn fitting(record: &Record, client: usize, found: &[Found]) -> Vec<bool> {
    let batches = record.batches.get(client).map_or(0, Vec::len);
    let mut fitting = vec![true; batches + 1];
    for (page, found) in (0..).zip(found).filter(|(page, _)| record.owner(*page) == client) {
        let mut state = record.page_after(page, 0);
        let mut from = 0;
        for (batch, change) in record.changes_of(page).chain([(batches, Change::Discard)]) {
            let counts = fitting.get_mut(from..=batch).unwrap_or_default();
            if !state.allows(*found) {
                counts.fill(false);
            }
            state = state.after(change, record.promises().torn_page_safe);
            from = batch + 1;
        }
    }
    fitting
}

/// The least number of a client's batches that goes with those of the others.
fn needed(record: &Record, client: usize, counts: &[usize]) -> usize {
    let others = record.batches.iter().zip(counts).filter_map(|(batches, count)| {
        let last = batches.get(count.checked_sub(1)?)?;
        last.needs.get(client).copied()
    });
    others.chain(counts.get(client).copied()).max().unwrap_or(0)
}

/// Says what is wrong with the number of batches that explains most.
fn complaint(record: &Record, client: usize, least: usize, found: &[Found]) -> String {
    let batches = record.batches.get(client).map_or(0, Vec::len);
    let wrong = |count: usize| -> Vec<String> {
        let pages = (0..).zip(found).filter(|(page, _)| record.owner(*page) == client);
        let pages = pages.map(|(page, found)| (page, found, record.page_after(page, count)));
        let wrong = pages.filter(|(_, found, expected)| !expected.allows(**found));
        wrong
            .map(|(page, found, expected)| format!("page {page} holds {found}, not {}", expected.held))
            .collect()
    };
    let nearest = (least..=batches).map(|count| (wrong(count), count)).min_by_key(|(wrong, _)| wrong.len());
    let (wrong, count) = nearest.unwrap_or_default();
    format!(
        "of {batches} batches of client {client}, {least} or more must be there (promised, or needed by what is \
         there); the nearest explanation is that {count} are, but then {}",
        wrong.join(", ")
    )
}

/// Without atomic batches each page stands for itself.
fn page_by_page(record: &Record, promised: &[usize], found: &[Found]) -> Result<(), String> {
    for (page, found) in (0..).zip(found) {
        let count = promised.get(record.owner(page)).copied().unwrap_or(0);
        let promised_page = record.page_after(page, count);
        let mut later = record.changes_of(page).filter(|(batch, _)| *batch >= count).peekable();
        let is_under_way = later.peek().is_some();
        let is_later = later.any(|(_, change)| match (change, found) {
            (Change::Put(version), Found::Whole(found)) => version == *found,
            (Change::Discard, _) => true,
            (Change::Put(_), Found::Other) => false,
        });
        let may_tear = is_under_way && *found == Found::Other && !record.promises().torn_page_safe;
        if !(promised_page.allows(*found) || is_later || may_tear) {
            return Err(format!("page {page} holds {found}; promised was {}", promised_page.held));
        }
    }
    Ok(())
}

/// What a page may hold in the next life. Where an explanation has it that the page was discarded, it was.
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
