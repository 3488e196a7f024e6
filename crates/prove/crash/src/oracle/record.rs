use nandle_pages::{PolicyKind, Promises};

use super::held::Page;
use crate::contents::Found;

/// What a batch does to a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    Put(u64),
    Discard,
}

/// What was asked of a store in one life, from one power cut to the next, and what it answered.
#[derive(Debug, Clone)]
pub(crate) struct Record {
    promises: Promises,
    /// What each page held when the life began.
    base: Vec<Page>,
    /// By client, in the order of its calls.
    pub(super) batches: Vec<Vec<Asked>>,
    /// By client, how many `write`s have returned.
    returned: Vec<usize>,
    acknowledged: Vec<Acknowledged>,
}

/// A batch that was given to the store.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    pub(super) changes: Vec<(u64, Change)>,
    /// By client, how many batches had returned when this was called: it isn't there without them.
    pub(super) needs: Vec<usize>,
}

/// From an event on so many batches of each client are promised.
#[derive(Debug, Clone)]
struct Acknowledged {
    position: u64,
    batches: Vec<usize>,
}

impl Record {
    pub(crate) fn new(policy: PolicyKind, base: Vec<Page>, clients: usize) -> Self {
        Self {
            promises: policy.promises(),
            base,
            batches: vec![Vec::new(); clients],
            returned: vec![0; clients],
            acknowledged: Vec::new(),
        }
    }

    pub(crate) fn clients(&self) -> usize {
        self.batches.len()
    }

    pub(super) fn promises(&self) -> Promises {
        self.promises
    }

    /// The client that a page belongs to.
    pub(crate) fn owner(&self, page: u64) -> usize {
        usize::try_from(page).unwrap_or(0) % self.clients()
    }

    /// A client calls `write` with a batch.
    pub(crate) fn called(&mut self, client: usize, changes: Vec<(u64, Change)>) {
        let asked = Asked { changes, needs: self.returned.clone() };
        if let Some(batches) = self.batches.get_mut(client) {
            batches.push(asked);
        }
    }

    /// Its `write` has returned.
    pub(crate) fn returned(&mut self, client: usize) {
        if let Some(returned) = self.returned.get_mut(client) {
            *returned += 1;
        }
    }

    /// What a `sync` that is called now will promise.
    pub(crate) fn syncing(&self) -> Vec<usize> {
        self.returned.clone()
    }

    /// It has returned, after so many events.
    pub(crate) fn synced(&mut self, position: u64, batches: &[usize]) {
        let mut all = self.promised(u64::MAX);
        for (promised, more) in all.iter_mut().zip(batches) {
            *promised = (*promised).max(*more);
        }
        self.acknowledged.push(Acknowledged { position, batches: all });
    }

    /// How many batches of each client a power cut after so many events must leave.
    pub(crate) fn promised(&self, cut: u64) -> Vec<usize> {
        let before = self.acknowledged.partition_point(|acknowledged| acknowledged.position <= cut);
        let last = before.checked_sub(1).and_then(|index| self.acknowledged.get(index));
        last.map_or_else(|| vec![0; self.clients()], |acknowledged| acknowledged.batches.clone())
    }

    /// The same of the whole life, without what was promised last.
    pub(crate) fn promised_but_the_last(&self) -> Vec<usize> {
        let all = self.promised(u64::MAX);
        let before = self.acknowledged.iter().rev().find(|acknowledged| acknowledged.batches != all);
        before.map_or_else(|| vec![0; self.clients()], |acknowledged| acknowledged.batches.clone())
    }

    /// Whether a page may hold this, whatever the others hold.
    pub(crate) fn may_hold(&self, page: u64, promised: &[usize], found: Found) -> bool {
        let owner = self.owner(page);
        let least = promised.get(owner).copied().unwrap_or(0);
        let most = self.batches.get(owner).map_or(0, Vec::len);
        (least..=most.max(least)).any(|count| self.page_after(page, count).allows(found))
    }

    /// A page after the first `count` batches of its client.
    pub(crate) fn page_after(&self, page: u64, count: usize) -> Page {
        let first = usize::try_from(page).ok().and_then(|index| self.base.get(index));
        let mut state = first.cloned().unwrap_or_else(Page::blank);
        for change in self.changes_of(page).filter(|(batch, _)| *batch < count).map(|(_, change)| change) {
            state = state.after(change, self.promises.torn_page_safe);
        }
        state
    }

    /// What its client's batches do to a page, with their numbers.
    pub(super) fn changes_of(&self, page: u64) -> impl Iterator<Item = (usize, Change)> {
        let batches = self.batches.get(self.owner(page)).map(Vec::as_slice).unwrap_or_default();
        batches.iter().enumerate().flat_map(move |(number, batch)| {
            let changes = batch.changes.iter().filter(move |(changed, _)| *changed == page);
            changes.map(move |(_, change)| (number, *change))
        })
    }

    /// What a client should read in one of its pages now that its batches have returned.
    pub(crate) fn page_now(&self, page: u64) -> Page {
        self.page_after(page, usize::MAX)
    }
}
