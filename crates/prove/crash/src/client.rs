mod mixed;

use std::rc::Rc;

use nandle_io::Nanos;
use nandle_io::runtime::Handle;
use nandle_pages::{Batch, BatchNumber, PageError, PageNumber, Store};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::contents::{fill, header, read};
use crate::life::{Plan, Workplace};
use crate::oracle::Change;
use crate::scenario::{Batches, Scenario};

/// Percentage of steps that change pages.
const CHANGING_PERCENT: u32 = 70;
/// Average number of steps between two growths.
const STEPS_PER_GROWTH: u32 = 8;
/// Minimum number of growths to reach the maximum size.
const GROWTHS: u64 = 4;

/// One of several concurrent clients of a store.
pub(crate) struct Client {
    number: usize,
    store: Rc<Store>,
    handle: Handle,
    shared: Rc<Workplace>,
    random: Xoshiro256PlusPlus,
    /// Generator for the mixed calls. Separate, so that the regular steps stay the same.
    mixing: Xoshiro256PlusPlus,
}

impl Client {
    pub(crate) fn new(
        number: usize,
        store: &Rc<Store>,
        handle: &Handle,
        shared: &Rc<Workplace>,
        seed: u64,
    ) -> Self {
        let random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mixing = Xoshiro256PlusPlus::seed_from_u64(seed ^ 0x0111_15ed);
        let (store, handle, shared) = (Rc::clone(store), handle.clone(), Rc::clone(shared));
        Self { number, store, handle, shared, random, mixing }
    }

    pub(crate) async fn run(mut self, plan: Plan) -> Result<(), String> {
        if plan.fills_first {
            self.fill_all().await?.or_else(|error| self.shared.excuse(&error))?;
        }
        let commits = CHANGING_PERCENT - self.shared.scenario.write_percent;
        for _ in 0..plan.steps {
            if self.mixes_now() {
                self.mix().await?;
            }
            let was_stopped = self.shared.stopped.get();
            if self.grows_now() {
                let grown = self.grow().await?;
                if grown.is_ok() && was_stopped {
                    return Err("the store grew after it had failed".into());
                }
                grown.or_else(|error| self.shared.excuse(&error))?;
                continue;
            }
            let step = self.random.random_range(0..100);
            let done = match step {
                _ if step < commits => {
                    let changes = self.changes();
                    self.commit(changes).await?
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
                Ok(()) => {}
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

    /// Calls `commit`, which combines `write` and `sync`. Its batch number must exceed all numbers
    /// reported before.
    async fn commit(&mut self, changes: Vec<(u64, Change)>) -> Result<Result<(), PageError>, String> {
        let batch = match self.batch(&changes) {
            Ok(batch) => batch,
            Err(error) => return Ok(Err(error)),
        };
        let (mut syncing, before) = self.shared.record(|record| {
            record.called(self.number, changes);
            (record.syncing(), record.newest_number())
        });
        let number = match self.store.commit(batch).await {
            Ok(number) => number,
            Err(error) => return Ok(Err(error)),
        };
        let has_numbers = self.shared.scenario.policy.promises().atomic_batch;
        if number <= before && has_numbers || !has_numbers && number != BatchNumber::NONE {
            return Err(format!("a commit is {number}, and {before} had been told before it was called"));
        }
        if let Some(own) = syncing.get_mut(self.number) {
            *own += 1;
        }
        let position = self.shared.position();
        self.shared.record(|record| {
            record.returned(self.number);
            record.synced_up_to(position, &syncing, number);
        });
        Ok(Ok(()))
    }

    async fn sync(&self, checkpoint: bool) -> Result<(), PageError> {
        let syncing = self.shared.record(|record| record.syncing());
        let number = if checkpoint {
            self.store.checkpoint().await?;
            BatchNumber::NONE
        } else {
            self.store.sync().await?
        };
        let position = self.shared.position();
        self.shared.record(|record| record.synced_up_to(position, &syncing, number));
        Ok(())
    }

    /// Returns true if this client grows the store now. Only client 0 grows it: of two concurrent
    /// growths the second might request fewer pages than the store has.
    fn grows_now(&mut self) -> bool {
        let can_grow = self.number == 0 && self.store.pages() < self.shared.scenario.pages_max;
        can_grow && self.random.random_ratio(1, STEPS_PER_GROWTH)
    }

    async fn grow(&mut self) -> Result<Result<(), PageError>, String> {
        let Scenario { pages: first, pages_max, .. } = self.shared.scenario;
        let pages = self.store.pages();
        // Grows in several steps up to the maximum.
        let most = pages_max.min(pages + (pages_max - first).div_ceil(GROWTHS));
        let pages = self.random.random_range(pages + 1..=most);
        self.shared.record(|record| record.growing(pages));
        if let Err(error) = self.store.grow(pages).await {
            return Ok(Err(error));
        }
        let position = self.shared.position();
        self.shared.record(|record| record.grown(position, pages));
        Ok(Ok(()))
    }

    /// Reads a page of this client, which must hold its last write.
    async fn look(&mut self) -> Result<Result<(), PageError>, String> {
        let page = self.page();
        let place = self.shared.place(page);
        let expected = self.shared.record(|record| record.page_now(page));
        let was_stopped = self.shared.stopped.get();
        let found = match read(&self.store, place).await {
            Ok(found) => found,
            Err(error) => return Ok(Err(error)),
        };
        if was_stopped {
            return Err(format!("{place} was read after the store had failed"));
        }
        if expected.allows(found) || self.shared.stopped.get() {
            return Ok(Ok(()));
        }
        Err(format!("{place} reads as {found} while its client expects {}", expected.held))
    }

    fn changes(&mut self) -> Vec<(u64, Change)> {
        let discards = self.shared.scenario.discard_percent;
        let mut changes: Vec<(u64, Change)> = Vec::new();
        for _ in 0..self.batch_length() {
            let page = self.page();
            let is_header = self.shared.place(page) == PageNumber::HEADER;
            let is_discard = self.random.random_ratio(discards, 100) && !is_header;
            let change = if is_discard { Change::Discard } else { self.shared.new_version() };
            changes.retain(|(other, _)| *other != page);
            changes.push((page, change));
        }
        changes
    }

    /// Draws the maximum number of changes in the next batch.
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

    /// Largest number of changes that fits the store and the clients' memory.
    fn largest_batch(&self) -> usize {
        let Scenario { memory_pages, clients, .. } = self.shared.scenario;
        self.store.largest_batch().min(memory_pages / 2 / clients)
    }

    /// Writes each page of this client once, in batches as large as the store accepts.
    async fn fill_all(&mut self) -> Result<Result<(), PageError>, String> {
        let clients = self.shared.scenario.clients;
        let own: Vec<u64> = (self.number as u64..self.shared.used(&self.store)).step_by(clients).collect();
        for pages in own.chunks(self.largest_batch()) {
            let changes = pages.iter().map(|page| (*page, self.shared.new_version())).collect();
            if let Err(error) = self.commit(changes).await? {
                return Ok(Err(error));
            }
        }
        Ok(Ok(()))
    }

    /// Draws a page of this client, with a preference for a few favourites.
    fn page(&mut self) -> u64 {
        let clients = self.shared.scenario.clients as u64;
        let own = (self.shared.used(&self.store) / clients).max(1);
        let is_hot = self.random.random_ratio(self.shared.scenario.hot_percent, 100);
        let nth = self.random.random_range(0..if is_hot { own.min(3) } else { own });
        nth * clients + self.number as u64
    }

    fn batch(&self, changes: &[(u64, Change)]) -> Result<Batch, PageError> {
        let mut batch = Batch::new();
        for &(page, change) in changes {
            let page = self.shared.place(page);
            match change {
                Change::Discard => batch.discard(page),
                Change::Put(version) if page == PageNumber::HEADER => batch.set_header(header(version)),
                Change::Put(version) => {
                    let mut buffer = self.store.buffer()?;
                    fill(&mut buffer, page.0, version);
                    batch.put(page, buffer.freeze());
                }
            }
        }
        Ok(batch)
    }
}
