use std::cell::{Cell, RefCell};
use std::rc::Rc;

use nandle_io::runtime::Handle;
use nandle_io::{DeviceId, Nanos};
use nandle_model::media::{Contents, SharedMedia};
use nandle_pages::{BatchNumber, PageError, PageNumber, Store};

use crate::client::Client;
use crate::oracle::{Change, Growth, Looked, Page, Promise, Record, judge};
use crate::places::Places;
use crate::scenario::{Scenario, Trouble};
use crate::stage::{Purpose, Stage, position};

/// Upper bound on the time of any request.
const LONGEST_REQUEST_US: u64 = 1_000_000;

/// Contents after a power cut, with the promises about them.
pub(crate) struct Remains<'a> {
    pub(crate) contents: &'a [Contents],
    pub(crate) record: &'a Record,
    pub(crate) promised: Promise,
    /// Lowest version never used.
    pub(crate) next_version: u64,
}

/// Steps of a life after the store is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) purpose: Purpose,
    pub(crate) sessions: usize,
    pub(crate) steps: usize,
    /// True if every page is written before the steps of each session.
    pub(crate) fills_first: bool,
}

impl Plan {
    /// Plan that only opens the store.
    pub(crate) fn opening(purpose: Purpose) -> Self {
        Self { purpose, sessions: 0, steps: 0, fills_first: false }
    }

    /// Plan of several sessions, with `steps` steps per client in each.
    pub(crate) fn work(purpose: Purpose, sessions: usize, steps: usize) -> Self {
        Self { purpose, sessions, steps, fills_first: false }
    }
}

/// Recording of a life.
pub(crate) struct Life {
    pub(crate) media: Vec<SharedMedia>,
    /// Record of each session. Until the first opening the record before the life applies.
    pub(crate) sessions: Vec<Session>,
    pub(crate) next_version: u64,
}

/// Record that applies from an event on.
#[derive(Debug, Clone)]
pub(crate) struct Session {
    pub(crate) opened_at: u64,
    pub(crate) record: Record,
}

impl Life {
    /// Number and record of the session that a power cut ends, or `None` before the first opening.
    pub(crate) fn session_at(&self, cut: u64) -> Option<(usize, &Session)> {
        self.sessions.iter().enumerate().rfind(|(_, session)| session.opened_at <= cut)
    }
}

/// Opens the store left by a power cut, checks all of it, and continues working with it. Returns an
/// error if the store breaks a promise.
pub(crate) fn live(scenario: &Scenario, remains: &Remains<'_>, plan: Plan) -> Result<Life, String> {
    live_to(scenario, remains, plan, End::Open)
}

/// Same as [`live`], and closes the store at the end.
pub(crate) fn live_and_close(scenario: &Scenario, remains: &Remains<'_>, plan: Plan) -> Result<Life, String> {
    live_to(scenario, remains, plan, End::Closed)
}

/// State of the store after a life's steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Open,
    Closed,
}

fn live_to(scenario: &Scenario, remains: &Remains<'_>, plan: Plan, end: End) -> Result<Life, String> {
    let stage = Stage::new(scenario, remains.contents, plan.purpose)?;
    let shared = Rc::new(Workplace {
        scenario: scenario.clone(),
        places: Places::of(scenario),
        media: stage.media.clone(),
        // The earlier record applies until the store is open.
        session: RefCell::new(Session { opened_at: u64::MAX, record: remains.record.clone() }),
        sessions: RefCell::default(),
        next_version: Cell::new(remains.next_version),
        may_fail: plan.purpose.has_trouble && scenario.trouble != Trouble::None,
        stopped: Cell::new(false),
    });
    let (handle, device) = (stage.runtime.handle(), stage.device);
    let working = Rc::clone(&shared);
    stage.runtime.block_on(async move {
        let mut record = remains.record.clone();
        let mut promised = remains.promised.clone();
        for session in 0..plan.sessions.max(1) {
            let Some(store) = working.open(&handle, device, &record, &promised).await? else {
                if working.has_ended() {
                    return Ok(());
                }
                working.quiesce(&handle).await;
                continue;
            };
            if plan.sessions == 0 {
                return Ok(());
            }
            let store = work(&handle, store, &working, plan, session).await?;
            if working.has_ended() {
                return Ok(());
            }
            if session + 1 < plan.sessions || end == End::Closed {
                working.end(store).await?;
                if working.has_ended() {
                    return Ok(());
                }
                working.quiesce(&handle).await;
            }
            record = working.record(|record| record.clone());
            promised = record.promised(u64::MAX);
        }
        Ok::<_, String>(())
    })?;
    drop(stage);
    let mut sessions = shared.sessions.take();
    sessions.push(shared.session.borrow().clone());
    Ok(Life { media: shared.media.clone(), sessions, next_version: shared.next_version.get() })
}

/// Runs all clients until each has completed its steps.
async fn work(
    handle: &Handle,
    store: Store,
    shared: &Rc<Workplace>,
    plan: Plan,
    session: usize,
) -> Result<Store, String> {
    let store = Rc::new(store);
    let mut clients = Vec::new();
    for number in 0..shared.scenario.clients {
        let seed = plan.purpose.seed ^ (session as u64) << 32 ^ (number as u64) << 40;
        let client = Client::new(number, &store, handle, shared, seed);
        clients.push(handle.spawn_named("client", client.run(plan)));
    }
    for client in clients {
        client.await?;
    }
    Rc::try_unwrap(store).map_err(|_| "a client kept the store".into())
}

/// State shared by the clients of a life.
pub(crate) struct Workplace {
    pub(crate) scenario: Scenario,
    places: Places,
    media: Vec<SharedMedia>,
    session: RefCell<Session>,
    /// Earlier sessions.
    sessions: RefCell<Vec<Session>>,
    next_version: Cell<u64>,
    may_fail: bool,
    /// True once a client received a device error.
    pub(crate) stopped: Cell<bool>,
}

impl Workplace {
    /// Number of used pages.
    pub(crate) fn used(&self, store: &Store) -> u64 {
        self.places.used(store.pages())
    }

    /// Number in the store of a used page; the first may be the header instead.
    pub(crate) fn place(&self, page: u64) -> PageNumber {
        self.places.place(page)
    }

    /// Reads all used pages in order.
    async fn look_at_all(&self, store: &Store) -> Result<Looked, PageError> {
        let found = self.places.look_at_all(store).await?;
        Ok(Looked { pages: store.pages(), found, last: store.last_durable_batch() })
    }

    pub(crate) fn position(&self) -> u64 {
        position(&self.media)
    }

    /// Draws contents that no page had before. Every other version is compressible.
    pub(crate) fn new_version(&self) -> Change {
        let next = self.next_version.get();
        let version = if self.scenario.compresses { next } else { next | 1 };
        self.next_version.set(version + 1);
        Change::Put(version)
    }

    /// Returns an error unless the scenario injects this failure.
    pub(crate) fn excuse(&self, error: &PageError) -> Result<(), String> {
        self.stopped.set(true);
        if self.may_fail { Ok(()) } else { Err(error.to_string()) }
    }

    /// Accesses the record of the current session.
    pub(crate) fn record<T>(&self, action: impl FnOnce(&mut Record) -> T) -> T {
        action(&mut self.session.borrow_mut().record)
    }

    /// Opens the store and reads all of it. The earlier requests must explain its contents, which
    /// then become the new base. Returns `None` if an injected failure prevented the opening.
    async fn open(
        &self,
        handle: &Handle,
        device: DeviceId,
        before: &Record,
        promised: &Promise,
    ) -> Result<Option<Store>, String> {
        let store = match Store::open(handle, device, self.scenario.open_options()).await {
            Ok(store) => store,
            Err(error) => return self.excuse(&error).map(|()| None),
        };
        let opened_at = self.position();
        let looked = match self.look_at_all(&store).await {
            Ok(looked) => looked,
            Err(error) => return self.excuse(&error).map(|()| None),
        };
        let base = judge(before, promised, &looked)?;
        // Without atomic batches the visible contents may still be volatile.
        let is_first = self.sessions.borrow().is_empty();
        if is_first || self.scenario.policy.promises().atomic_batch {
            let growth = before.growth_from(looked.pages);
            let (policy, clients) = (self.scenario.policy, self.scenario.clients);
            let record = Record::new(policy, base, clients, growth, looked.last);
            let before = self.session.replace(Session { opened_at, record });
            self.sessions.borrow_mut().push(before);
        } else {
            // The number of pages is promised though.
            self.record(|record| record.grown(opened_at, looked.pages));
        }
        Ok(Some(store))
    }

    /// Returns true if a failure was the last event before the power cut.
    fn has_ended(&self) -> bool {
        self.stopped.get() && !self.scenario.goes_on_after_failure()
    }

    /// Waits for requests in flight after a failure. The power stays on, so the next opening may
    /// see contents that were never durable.
    async fn quiesce(&self, handle: &Handle) {
        if self.stopped.replace(false) {
            handle.sleep(Nanos::from_micros(LONGEST_REQUEST_US)).await;
        }
    }

    async fn end(&self, store: Store) -> Result<(), String> {
        let syncing = self.record(|record| record.syncing());
        match store.close().await {
            Ok(()) => self.record(|record| record.synced(self.position(), &syncing)),
            Err(error) => self.excuse(&error)?,
        }
        Ok(())
    }
}

/// A new store without writes, on a device filled with `page`.
pub(crate) fn unwritten(scenario: &Scenario, page: Page) -> Record {
    let used = scenario.used_pages().into_iter().filter(|place| *place < scenario.pages);
    let base = used.map(|_| page.clone()).collect();
    let growth = Growth::of(scenario.pages, page);
    Record::new(scenario.policy, base, 1, growth, BatchNumber::NONE)
}
