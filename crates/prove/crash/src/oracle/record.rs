use nandle_pages::{BatchNumber, PolicyKind, Promises};

use super::growth::Growth;
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
    /// The number that the opening said.
    opened: BatchNumber,
    growth: Growth,
}

/// What a power cut must leave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Promise {
    /// By client, how many batches at least.
    pub(crate) batches: Vec<usize>,
    /// How many pages at least.
    pub(crate) pages: u64,
    /// The number of its last batch at least.
    pub(crate) number: BatchNumber,
}

impl Promise {
    /// Of a store to which nothing was written.
    pub(crate) fn of_new(pages: u64) -> Self {
        Self { batches: vec![0], pages, number: BatchNumber::NONE }
    }

    /// How many batches of a client.
    pub(super) fn batches_of(&self, client: usize) -> usize {
        *of_client(&self.batches, client)
    }
}

/// One client's among those of all clients of a record.
pub(super) fn of_client<T>(all: &[T], client: usize) -> &T {
    all.get(client).unwrap_or_else(|| panic!("there is no client {client} among {}", all.len()))
}

fn of_client_mut<T>(all: &mut [T], client: usize) -> &mut T {
    let clients = all.len();
    all.get_mut(client).unwrap_or_else(|| panic!("there is no client {client} among {clients}"))
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
    /// The greatest number that was told by then.
    number: BatchNumber,
}

impl Record {
    /// Of a store in which the used pages hold `base` and all later ones `growth` says what; `opened` is the last batch that its
    /// opening told of.
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

    /// The client that a page belongs to.
    pub(crate) fn owner(&self, page: u64) -> usize {
        let owner = page % self.clients() as u64;
        usize::try_from(owner).unwrap_or_else(|_| panic!("a client has a number that fits: {owner}"))
    }

    /// A client calls `write` with a batch.
    pub(crate) fn called(&mut self, client: usize, changes: Vec<(u64, Change)>) {
        let asked = Asked { changes, needs: self.returned.clone() };
        of_client_mut(&mut self.batches, client).push(asked);
    }

    /// Its `write` has returned.
    pub(crate) fn returned(&mut self, client: usize) {
        *of_client_mut(&mut self.returned, client) += 1;
    }

    /// A client has dropped its `write` before it returned, and finds these changes of it done.
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

    /// What a reader that begins now must see.
    pub(crate) fn seen(&self) -> Promise {
        let (pages, number) = (self.growth.promised(u64::MAX), BatchNumber::NONE);
        Promise { batches: self.returned.clone(), pages, number }
    }

    /// What a `sync` that is called now will promise.
    pub(crate) fn syncing(&self) -> Vec<usize> {
        self.returned.clone()
    }

    /// It has returned, after so many events, and told the number of the last batch that it made durable.
    pub(crate) fn synced_up_to(&mut self, position: u64, batches: &[usize], number: BatchNumber) {
        self.synced(position, batches);
        if let Some(last) = self.acknowledged.last_mut() {
            last.number = last.number.max(number);
        }
    }

    /// The greatest number that the store has told.
    pub(crate) fn newest_number(&self) -> BatchNumber {
        self.number_at(u64::MAX)
    }

    fn number_at(&self, cut: u64) -> BatchNumber {
        let before = self.acknowledged.partition_point(|acknowledged| acknowledged.position <= cut);
        let last = before.checked_sub(1).and_then(|index| self.acknowledged.get(index));
        last.map_or(self.opened, |acknowledged| acknowledged.number)
    }

    /// It has returned, after so many events.
    pub(crate) fn synced(&mut self, position: u64, batches: &[usize]) {
        let number = self.newest_number();
        let mut all = self.promised_batches(u64::MAX);
        assert_eq!(all.len(), batches.len(), "a sync is of all clients");
        for (promised, more) in all.iter_mut().zip(batches) {
            *promised = (*promised).max(*more);
        }
        self.acknowledged.push(Acknowledged { position, batches: all, number });
    }

    /// The store is asked to have so many pages.
    pub(crate) fn growing(&mut self, pages: u64) {
        self.growth.asked(pages);
    }

    /// After so many events it has answered that it has them.
    pub(crate) fn grown(&mut self, position: u64, pages: u64) {
        self.growth.answered(position, pages);
    }

    /// How many pages it has, and what is wrong with that after a power cut that had to leave `promised`.
    pub(super) fn check_pages(&self, pages: u64, promised: u64) -> Result<(), String> {
        self.growth.check(pages, promised)
    }

    /// The same for a life that begins with so many pages.
    pub(crate) fn growth_from(&self, pages: u64) -> Growth {
        self.growth.from(pages)
    }

    /// What a power cut after so many events must leave.
    pub(crate) fn promised(&self, cut: u64) -> Promise {
        let number = self.number_at(cut);
        Promise { batches: self.promised_batches(cut), pages: self.growth.promised(cut), number }
    }

    fn promised_batches(&self, cut: u64) -> Vec<usize> {
        let before = self.acknowledged.partition_point(|acknowledged| acknowledged.position <= cut);
        let last = before.checked_sub(1).and_then(|index| self.acknowledged.get(index));
        last.map_or_else(|| vec![0; self.clients()], |acknowledged| acknowledged.batches.clone())
    }

    /// The same of the whole life, without what was promised last.
    pub(crate) fn promised_but_the_last(&self) -> Promise {
        let all = self.promised_batches(u64::MAX);
        let before = self.acknowledged.iter().rev().find(|acknowledged| acknowledged.batches != all);
        let batches =
            before.map_or_else(|| vec![0; self.clients()], |acknowledged| acknowledged.batches.clone());
        let number = before.map_or(self.opened, |acknowledged| acknowledged.number);
        Promise { batches, pages: self.growth.promised(u64::MAX), number }
    }

    /// Whether a page may hold this, whatever the others hold.
    pub(crate) fn may_hold(&self, page: u64, promised: &Promise, found: Found) -> bool {
        let owner = self.owner(page);
        let least = promised.batches_of(owner);
        let most = self.batches_of(owner).len();
        (least..=most.max(least)).any(|count| self.page_after(page, count).allows(found))
    }

    /// A page after the first `count` batches of its client.
    pub(crate) fn page_after(&self, page: u64, count: usize) -> Page {
        let first = usize::try_from(page).ok().and_then(|index| self.base.get(index));
        let mut state = first.unwrap_or_else(|| self.growth.new_page()).clone();
        for change in self.changes_of(page).filter(|(batch, _)| *batch < count).map(|(_, change)| change) {
            state = state.after(change, self.promises.torn_page_safe);
        }
        state
    }

    /// What its client's batches do to a page, with their numbers.
    pub(super) fn changes_of(&self, page: u64) -> impl Iterator<Item = (usize, Change)> {
        self.batches_of(self.owner(page)).iter().enumerate().flat_map(move |(number, batch)| {
            let changes = batch.changes.iter().filter(move |(changed, _)| *changed == page);
            changes.map(move |(_, change)| (number, *change))
        })
    }

    /// What a client asked for.
    pub(super) fn batches_of(&self, client: usize) -> &[Asked] {
        of_client::<Vec<_>>(&self.batches, client)
    }

    /// What a client should read in one of its pages now that its batches have returned.
    pub(crate) fn page_now(&self, page: u64) -> Page {
        self.page_after(page, usize::MAX)
    }
}
