use std::cell::{Cell, RefCell};
use std::rc::Rc;

use nandle_io::runtime::Handle;
use nandle_io::{DeviceId, Nanos};
use nandle_model::media::{Contents, SharedMedia};
use nandle_pages::{Batch, PageError, PageNumber, Store};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::contents::{Found, fill, inspect};
use crate::oracle::{Change, Page, Record, judge};
use crate::scenario::{Batches, Scenario, Trouble};
use crate::stage::{Purpose, Stage};

/// Of a hundred steps so many change pages.
const CHANGING_PERCENT: u32 = 70;
/// No request takes longer.
const LONGEST_REQUEST_US: u64 = 1_000_000;

/// What a power cut left, and what was promised of it.
pub(crate) struct Remains<'a> {
    pub(crate) contents: &'a [Contents],
    pub(crate) record: &'a Record,
    pub(crate) promised: Vec<usize>,
    /// Versions from this one on were never used.
    pub(crate) next_version: u64,
}

/// How a life goes on when its store is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) purpose: Purpose,
    pub(crate) sessions: usize,
    pub(crate) steps: usize,
    /// Every page is written before the steps of each session.
    pub(crate) fills_first: bool,
}

impl Plan {
    /// An opening and nothing else.
    pub(crate) fn opening(purpose: Purpose) -> Self {
        Self { purpose, sessions: 0, steps: 0, fills_first: false }
    }

    /// Clients do so many steps in each of so many sessions.
    pub(crate) fn work(purpose: Purpose, sessions: usize, steps: usize) -> Self {
        Self { purpose, sessions, steps, fills_first: false }
    }
}

/// A life that was lived.
pub(crate) struct Life {
    pub(crate) media: Vec<SharedMedia>,
    /// What was asked and answered since each opening; before the first, what went before the life counts.
    pub(crate) sessions: Vec<Session>,
    pub(crate) next_version: u64,
}

/// What counts from an event on.
#[derive(Debug, Clone)]
pub(crate) struct Session {
    pub(crate) opened_at: u64,
    pub(crate) record: Record,
}

impl Life {
    /// The session that a power cut ends, and its number; none if the store hadn't been opened yet.
    pub(crate) fn session_at(&self, cut: u64) -> Option<(usize, &Session)> {
        self.sessions.iter().enumerate().rfind(|(_, session)| session.opened_at <= cut)
    }
}

/// Opens the store that a power cut left, looks at all of it, and goes on working with it. An error says what is wrong
/// with the store.
pub(crate) fn live(scenario: &Scenario, remains: &Remains<'_>, plan: Plan) -> Result<Life, String> {
    live_to(scenario, remains, plan, End::Open)
}

/// The same, and closes the store at the end.
pub(crate) fn live_and_close(scenario: &Scenario, remains: &Remains<'_>, plan: Plan) -> Result<Life, String> {
    live_to(scenario, remains, plan, End::Closed)
}

/// What becomes of the store when a life's steps are done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Open,
    Closed,
}

fn live_to(scenario: &Scenario, remains: &Remains<'_>, plan: Plan, end: End) -> Result<Life, String> {
    let stage = Stage::new(scenario, remains.contents, plan.purpose)?;
    let shared = Rc::new(Workplace {
        scenario: scenario.clone(),
        media: stage.media.clone(),
        // Until the store is open what went before counts.
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

/// All pages, one after the other.
async fn look_at_all(store: &Store) -> Result<Vec<Found>, PageError> {
    let mut found = Vec::new();
    for page in 0..store.pages() {
        found.push(inspect(&store.read(PageNumber(page)).await?, page));
    }
    Ok(found)
}

/// Clients work until each has done its steps.
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
        let client = Client {
            number,
            store: Rc::clone(&store),
            handle: handle.clone(),
            shared: Rc::clone(shared),
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
        };
        clients.push(handle.spawn_named("client", client.run(plan)));
    }
    for client in clients {
        client.await?;
    }
    Rc::try_unwrap(store).map_err(|_| "a client kept the store".into())
}

/// What the clients of a life have in common.
struct Workplace {
    scenario: Scenario,
    media: Vec<SharedMedia>,
    session: RefCell<Session>,
    /// Those before it.
    sessions: RefCell<Vec<Session>>,
    next_version: Cell<u64>,
    may_fail: bool,
    /// A client was told that the store failed.
    stopped: Cell<bool>,
}

impl Workplace {
    fn position(&self) -> u64 {
        self.media.first().map_or(0, |media| media.borrow().position())
    }

    /// A change to contents that no page had before. Every other version can be compressed.
    fn new_version(&self) -> Change {
        let next = self.next_version.get();
        let version = if self.scenario.compresses { next } else { next | 1 };
        self.next_version.set(version + 1);
        Change::Put(version)
    }

    /// An error is what the scenario asked for, or it is wrong.
    fn excuse(&self, error: &PageError) -> Result<(), String> {
        self.stopped.set(true);
        if self.may_fail { Ok(()) } else { Err(error.to_string()) }
    }

    /// Looks at or adds to the record of this session.
    fn record<T>(&self, action: impl FnOnce(&mut Record) -> T) -> T {
        action(&mut self.session.borrow_mut().record)
    }

    /// Opens the store and looks at all of it. What it shows must be explained by what was asked of it before, and counts
    /// from now on. None when it could not be opened, and that is what the scenario asked for.
    async fn open(
        &self,
        handle: &Handle,
        device: DeviceId,
        before: &Record,
        promised: &[usize],
    ) -> Result<Option<Store>, String> {
        let store = match Store::open(handle, device, self.scenario.open_options()).await {
            Ok(store) => store,
            Err(error) => return self.excuse(&error).map(|()| None),
        };
        let opened_at = self.position();
        let found = match look_at_all(&store).await {
            Ok(found) => found,
            Err(error) => return self.excuse(&error).map(|()| None),
        };
        let base = judge(before, promised, &found)?;
        // What a store without atomic batches shows may still be volatile: opening it is no promise.
        let is_first = self.sessions.borrow().is_empty();
        if is_first || self.scenario.policy.promises().atomic_batch {
            let record = Record::new(self.scenario.policy, base, self.scenario.clients);
            let before = self.session.replace(Session { opened_at, record });
            self.sessions.borrow_mut().push(before);
        }
        Ok(Some(store))
    }

    /// Whether a failure was the last thing that happens before the power goes off.
    fn has_ended(&self) -> bool {
        self.stopped.get() && !self.scenario.goes_on_after_failure()
    }

    /// After a failure the power stays on: what the device shows may never have been durable, and the next opening is to
    /// cope with it. What was on its way arrives before that.
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

/// One of those who use a store at the same time.
struct Client {
    number: usize,
    store: Rc<Store>,
    handle: Handle,
    shared: Rc<Workplace>,
    random: Xoshiro256PlusPlus,
}

impl Client {
    async fn run(mut self, plan: Plan) -> Result<(), String> {
        if plan.fills_first {
            self.fill_all().await.or_else(|error| self.shared.excuse(&error))?;
        }
        let commits = CHANGING_PERCENT - self.shared.scenario.write_percent;
        for _ in 0..plan.steps {
            let was_stopped = self.shared.stopped.get();
            let step = self.random.random_range(0..100);
            let done = match step {
                _ if step < commits => {
                    let changes = self.changes();
                    self.commit(changes).await
                }
                0..CHANGING_PERCENT => self.write().await,
                70..78 => self.sync(false).await,
                78..82 => self.sync(true).await,
                82..95 => self.look().await?,
                95..97 => self.store.verify().await.map(drop),
                _ => {
                    self.handle.sleep(Nanos::from_micros(self.random.random_range(10..1000))).await;
                    Ok(())
                }
            };
            match done {
                Ok(()) if was_stopped && step < 82 => {
                    return Err("the store took a call and acknowledged it after it had failed".into());
                }
                // What is on its way has taken it, and gives it back.
                Ok(()) | Err(PageError::Memory(_)) => {}
                Err(error) => self.shared.excuse(&error)?,
            }
        }
        Ok(())
    }

    async fn write(&mut self) -> Result<(), PageError> {
        let changes = self.changes();
        let batch = self.batch(&changes)?;
        self.shared.record(|record| record.called(self.number, changes));
        self.store.write(batch).await?;
        self.shared.record(|record| record.returned(self.number));
        Ok(())
    }

    /// `commit` is `write` and `sync`, in one call.
    async fn commit(&mut self, changes: Vec<(u64, Change)>) -> Result<(), PageError> {
        let batch = self.batch(&changes)?;
        let mut syncing = self.shared.record(|record| {
            record.called(self.number, changes);
            record.syncing()
        });
        self.store.commit(batch).await?;
        if let Some(own) = syncing.get_mut(self.number) {
            *own += 1;
        }
        let position = self.shared.position();
        self.shared.record(|record| {
            record.returned(self.number);
            record.synced(position, &syncing);
        });
        Ok(())
    }

    async fn sync(&self, checkpoint: bool) -> Result<(), PageError> {
        let syncing = self.shared.record(|record| record.syncing());
        if checkpoint {
            self.store.checkpoint().await?;
        } else {
            self.store.sync().await?;
        }
        let position = self.shared.position();
        self.shared.record(|record| record.synced(position, &syncing));
        Ok(())
    }

    /// Reads a page of its own, which must hold what it wrote last.
    async fn look(&mut self) -> Result<Result<(), PageError>, String> {
        let page = self.page();
        let expected = self.shared.record(|record| record.page_now(page));
        let contents = match self.store.read(PageNumber(page)).await {
            Ok(contents) => contents,
            Err(error) => return Ok(Err(error)),
        };
        let found = inspect(&contents, page);
        if expected.allows(found) || self.shared.stopped.get() {
            return Ok(Ok(()));
        }
        Err(format!("page {page} reads as {found} while its client expects {}", expected.held))
    }

    fn changes(&mut self) -> Vec<(u64, Change)> {
        let discards = self.shared.scenario.discard_percent;
        let mut changes: Vec<(u64, Change)> = Vec::new();
        for _ in 0..self.batch_length() {
            let page = self.page();
            let is_discard = self.random.random_ratio(discards, 100);
            let change = if is_discard { Change::Discard } else { self.shared.new_version() };
            changes.retain(|(other, _)| *other != page);
            changes.push((page, change));
        }
        changes
    }

    /// How many changes the next batch has at most.
    fn batch_length(&mut self) -> u64 {
        let scenario = &self.shared.scenario;
        let page_blocks = scenario.page_bytes as u64 / 4096;
        let part = (scenario.buffer_bytes / 4096 / 4 / (1 + page_blocks)).clamp(1, scenario.changes_max);
        match scenario.batches {
            Batches::UpToAPart => self.random.random_range(1..=part),
            Batches::UpToTheLargest => match self.random.random_range(0..4) {
                0 | 1 => 1,
                2 => self.random.random_range(1..=8),
                _ => self.largest_batch() as u64,
            },
        }
    }

    /// As many changes as the store takes and the clients' memory holds.
    fn largest_batch(&self) -> usize {
        let Scenario { memory_pages, clients, .. } = self.shared.scenario;
        self.store.largest_batch().min(memory_pages / 2 / clients)
    }

    /// Writes each of its pages once, in batches as large as the store takes.
    async fn fill_all(&mut self) -> Result<(), PageError> {
        let clients = self.shared.scenario.clients;
        let own: Vec<u64> = (self.number as u64..self.store.pages()).step_by(clients).collect();
        for pages in own.chunks(self.largest_batch()) {
            let changes = pages.iter().map(|page| (*page, self.shared.new_version())).collect();
            self.commit(changes).await?;
        }
        Ok(())
    }

    /// One of its own pages, often one of a few.
    fn page(&mut self) -> u64 {
        let clients = self.shared.scenario.clients as u64;
        let own = (self.shared.scenario.pages / clients).max(1);
        let is_hot = self.random.random_ratio(self.shared.scenario.hot_percent, 100);
        let nth = self.random.random_range(0..if is_hot { own.min(3) } else { own });
        nth * clients + self.number as u64
    }

    fn batch(&self, changes: &[(u64, Change)]) -> Result<Batch, PageError> {
        let mut batch = Batch::new();
        for &(page, change) in changes {
            match change {
                Change::Discard => batch.discard(PageNumber(page)),
                Change::Put(version) => {
                    let mut buffer = self.store.buffer()?;
                    fill(&mut buffer, page, version);
                    batch.put(PageNumber(page), buffer.freeze());
                }
            }
        }
        Ok(batch)
    }
}

/// A new store, in which nothing was written yet, on a device of zeros or of anything.
pub(crate) fn unwritten(scenario: &Scenario, page: Page) -> Record {
    let pages = usize::try_from(scenario.pages).unwrap_or(0);
    Record::new(scenario.policy, vec![page; pages], 1)
}
