use nandle_pages::{BatchNumber, PolicyKind, Promises};

use super::growth::Growth;
use super::held::Page;
use crate::contents::Found;

/// Change of a page in a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    Put(u64),
    Discard,
}

/// Requests to a store in one life, between two power cuts, and its replies.
#[derive(Debug, Clone)]
pub(crate) struct Record {
    promises: Promises,
    /// Contents of each page at the start of the life.
    base: Vec<Page>,
    /// Batches of each client, in order of calls.
    pub(super) batches: Vec<Vec<Asked>>,
    /// Number of `write`s that returned, by client.
    returned: Vec<usize>,
    acknowledged: Vec<Acknowledged>,
    /// Batch number reported by the opening.
    opened: BatchNumber,
    growth: Growth,
}

/// Minimum state after a power cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Promise {
    /// Minimum number of batches, by client.
    pub(crate) batches: Vec<usize>,
    /// Minimum number of pages.
    pub(crate) pages: u64,
    /// Minimum number of the last batch.
    pub(crate) number: BatchNumber,
}

impl Promise {
    /// Promise of a store without writes.
    pub(crate) fn of_new(pages: u64) -> Self {
        Self { batches: vec![0], pages, number: BatchNumber::NONE }
    }

    /// Minimum number of batches of a client.
    pub(super) fn batches_of(&self, client: usize) -> usize {
        *of_client(&self.batches, client)
    }
}

/// Entry of one client.
pub(super) fn of_client<T>(all: &[T], client: usize) -> &T {
    all.get(client).unwrap_or_else(|| panic!("there is no client {client} among {}", all.len()))
}

fn of_client_mut<T>(all: &mut [T], client: usize) -> &mut T {
    let clients = all.len();
    all.get_mut(client).unwrap_or_else(|| panic!("there is no client {client} among {clients}"))
}

/// A batch given to the store.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    pub(super) changes: Vec<(u64, Change)>,
    /// Number of batches, by client, that returned before this batch was called. It is present only
    /// with them.
    pub(super) needs: Vec<usize>,
}

/// Batches promised from an event on.
#[derive(Debug, Clone)]
struct Acknowledged {
    position: u64,
    batches: Vec<usize>,
    /// Greatest batch number reported by then.
    number: BatchNumber,
}

impl Record {
    /// Record of a store whose used pages hold `base`; `growth` gives the contents of later pages,
    /// and `opened` is the last batch that the opening reported.
    pub(crate) fn new(
        policy: PolicyKind,
        base: Vec<Page>,
        clients: usize,
        growth: Growth,
        opened: BatchNumber,
    ) -> Self {
        assert!(clients > 0, "without clients no page has an owner");
        Self {
            promises: policy.promises(),
            base,
            batches: vec![Vec::new(); clients],
            returned: vec![0; clients],
            acknowledged: Vec::new(),
            opened,
            growth,
        }
    }

    pub(crate) fn clients(&self) -> usize {
        self.batches.len()
    }

    pub(super) fn promises(&self) -> Promises {
        self.promises
    }

    /// Client that owns a page.
    pub(crate) fn owner(&self, page: u64) -> usize {
        let owner = page % self.clients() as u64;
        usize::try_from(owner).unwrap_or_else(|_| panic!("a client has a number that fits: {owner}"))
    }

    /// Records a client's call of `write`.
    pub(crate) fn called(&mut self, client: usize, changes: Vec<(u64, Change)>) {
        let asked = Asked { changes, needs: self.returned.clone() };
        of_client_mut(&mut self.batches, client).push(asked);
    }

    /// Records the return of a client's `write`.
    pub(crate) fn returned(&mut self, client: usize) {
        *of_client_mut(&mut self.returned, client) += 1;
    }

    /// Records that a client dropped its `write`, and the changes that took effect.
    pub(crate) fn dropped(&mut self, client: usize, done: Vec<(u64, Change)>) {
        let batches = of_client_mut(&mut self.batches, client);
        if done.is_empty() {
            batches.pop();
            return;
        }
        if let Some(last) = batches.last_mut() {
            last.changes = done;
        }
        self.returned(client);
    }

    /// Promise to a read that begins now.
    pub(crate) fn seen(&self) -> Promise {
        let (pages, number) = (self.growth.promised(u64::MAX), BatchNumber::NONE);
        Promise { batches: self.returned.clone(), pages, number }
    }

    /// Numbers of batches that a `sync` called now covers.
    pub(crate) fn syncing(&self) -> Vec<usize> {
        self.returned.clone()
    }

    /// Records the return of a `sync` after `position` events, with the number of its last batch.
    pub(crate) fn synced_up_to(&mut self, position: u64, batches: &[usize], number: BatchNumber) {
        self.synced(position, batches);
        if let Some(last) = self.acknowledged.last_mut() {
            last.number = last.number.max(number);
        }
    }

    /// Greatest batch number that the store reported.
    pub(crate) fn newest_number(&self) -> BatchNumber {
        self.number_at(u64::MAX)
    }

    fn number_at(&self, cut: u64) -> BatchNumber {
        let before = self.acknowledged.partition_point(|acknowledged| acknowledged.position <= cut);
        let last = before.checked_sub(1).and_then(|index| self.acknowledged.get(index));
        last.map_or(self.opened, |acknowledged| acknowledged.number)
    }

    /// Records the return of a `sync` after `position` events.
    pub(crate) fn synced(&mut self, position: u64, batches: &[usize]) {
        let number = self.newest_number();
        let mut all = self.promised_batches(u64::MAX);
        assert_eq!(all.len(), batches.len(), "a sync is of all clients");
        for (promised, more) in all.iter_mut().zip(batches) {
            *promised = (*promised).max(*more);
        }
        self.acknowledged.push(Acknowledged { position, batches: all, number });
    }

    /// Records a request to grow.
    pub(crate) fn growing(&mut self, pages: u64) {
        self.growth.asked(pages);
    }

    /// Records the return of a growth after `position` events.
    pub(crate) fn grown(&mut self, position: u64, pages: u64) {
        self.growth.answered(position, pages);
    }

    /// Checks the number of pages after a power cut.
    pub(super) fn check_pages(&self, pages: u64, promised: u64) -> Result<(), String> {
        self.growth.check(pages, promised)
    }

    /// Growth for a life that begins with `pages` pages.
    pub(crate) fn growth_from(&self, pages: u64) -> Growth {
        self.growth.from(pages)
    }

    /// Promise to hold after a power cut at an event.
    pub(crate) fn promised(&self, cut: u64) -> Promise {
        let number = self.number_at(cut);
        Promise { batches: self.promised_batches(cut), pages: self.growth.promised(cut), number }
    }

    fn promised_batches(&self, cut: u64) -> Vec<usize> {
        let before = self.acknowledged.partition_point(|acknowledged| acknowledged.position <= cut);
        let last = before.checked_sub(1).and_then(|index| self.acknowledged.get(index));
        last.map_or_else(|| vec![0; self.clients()], |acknowledged| acknowledged.batches.clone())
    }

    /// Promise of the whole life without its last acknowledgement.
    pub(crate) fn promised_but_the_last(&self) -> Promise {
        let all = self.promised_batches(u64::MAX);
        let before = self.acknowledged.iter().rev().find(|acknowledged| acknowledged.batches != all);
        let batches =
            before.map_or_else(|| vec![0; self.clients()], |acknowledged| acknowledged.batches.clone());
        let number = before.map_or(self.opened, |acknowledged| acknowledged.number);
        Promise { batches, pages: self.growth.promised(u64::MAX), number }
    }

    /// Returns true if a page may hold `found`, independent of other pages.
    pub(crate) fn may_hold(&self, page: u64, promised: &Promise, found: Found) -> bool {
        let owner = self.owner(page);
        let least = promised.batches_of(owner);
        let most = self.batches_of(owner).len();
        (least..=most.max(least)).any(|count| self.page_after(page, count).allows(found))
    }

    /// Page after the first `count` batches of its client.
    pub(crate) fn page_after(&self, page: u64, count: usize) -> Page {
        let first = usize::try_from(page).ok().and_then(|index| self.base.get(index));
        let mut state = first.unwrap_or_else(|| self.growth.new_page()).clone();
        for change in self.changes_of(page).filter(|(batch, _)| *batch < count).map(|(_, change)| change) {
            state = state.after(change, self.promises.torn_page_safe);
        }
        state
    }

    /// Changes of a page with the numbers of their batches.
    pub(super) fn changes_of(&self, page: u64) -> impl Iterator<Item = (usize, Change)> {
        self.batches_of(self.owner(page)).iter().enumerate().flat_map(move |(number, batch)| {
            let changes = batch.changes.iter().filter(move |(changed, _)| *changed == page);
            changes.map(move |(_, change)| (number, *change))
        })
    }

    pub(super) fn batches_of(&self, client: usize) -> &[Asked] {
        of_client::<Vec<_>>(&self.batches, client)
    }

    /// Page as its client should read it after its batches returned.
    pub(crate) fn page_now(&self, page: u64) -> Page {
        self.page_after(page, usize::MAX)
    }
}
