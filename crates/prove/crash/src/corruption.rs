//! Damage to stores that were closed or lost power. Each block that a store ever wrote is damaged
//! alone, in every way of [`Damage`], and the store is opened. It may refuse to open, or refuse to
//! read a page. It must never return contents other than those present when it was closed, or those
//! that the power cut permits.
//!
//! After a power cut the last acknowledged commit may be missing. No later write proves that it was
//! durable, so damage to it looks like an earlier power cut.
//!
//! Blocks of pages are damaged as well as metadata: a store that promises to detect damage must
//! detect both.

use nandle_io::{Arena, Operation};
use nandle_model::media::{Contents, Media};
use nandle_pages::{BLOCK_BYTES, Store};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::contents::Found;
use crate::explore::make_store;
use crate::life::{Plan, Remains, live, live_and_close, unwritten};
use crate::oracle::{Looked, Page, Promise, Record, judge};
use crate::places::{Places, Seen};
use crate::scenario::{Scenario, Trouble};
use crate::stage::{Purpose, Stage};

/// Lives of the store before it is damaged.
const LIVES: usize = 4;

/// Damage to a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Damage {
    /// One bit is flipped.
    FlippedBit,
    /// All bytes are zeros.
    Zeroed,
    /// Contents from this many closes earlier, as a lost write leaves them.
    Older(usize),
}

impl Damage {
    const ALL: [Self; 5] =
        [Self::FlippedBit, Self::Zeroed, Self::Older(1), Self::Older(2), Self::Older(LIVES)];
}

/// Results of the trials of one store.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trials {
    /// Damaged blocks, counted once for each kind of damage that changes them.
    pub trials: u64,
    /// Stores that refused to open.
    pub refused: u64,
    /// Stores that opened and refused to read a page.
    pub told: u64,
    /// Wrong contents without an error.
    pub silent: Vec<Silent>,
}

/// Wrong contents without an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Silent {
    /// Seed of the history.
    pub seed: u64,
    /// Kind of damage.
    pub damage: Damage,
    /// Damaged block of the device.
    pub block: u64,
    /// Wrong contents.
    pub what: String,
}

enum Answer {
    Right,
    Refused,
    Told,
    Silent(String),
}

/// State of a store before it is damaged, after several closes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Left {
    /// Closed.
    Closed,
    /// In use, with all writes sent so far on the device.
    PowerCut,
}

/// Uses a store, then damages each of its blocks in turn.
///
/// # Errors
/// The store fails before any damage is done.
pub fn corrupt(scenario: &Scenario, left: Left) -> Result<Trials, String> {
    let scenario = undisturbed(scenario);
    let closed = left_store(&scenario, left)?;
    let mut trials = Trials::default();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(scenario.seed);
    for block in closed.written_blocks() {
        for damage in Damage::ALL {
            let Some(contents) = closed.damaged(block, damage, &mut random)? else { continue };
            trials.trials += 1;
            match closed.answer(&scenario, &contents)? {
                Answer::Right => {}
                Answer::Refused => trials.refused += 1,
                Answer::Told => trials.told += 1,
                Answer::Silent(what) => {
                    trials.silent.push(Silent { seed: scenario.seed, damage, block, what });
                }
            }
        }
    }
    Ok(trials)
}

/// A store to be damaged.
pub(crate) struct Closed {
    /// Contents of the device at each close and at the power cut, newest last.
    states: Vec<Contents>,
    record: Record,
    /// Minimum number of batches of each client.
    promised: Promise,
    /// Promise of the last close, kept for its last life.
    last_close: Option<Promise>,
    next_version: u64,
}

/// Copy of a scenario with one healthy device and one session.
pub(crate) fn undisturbed(scenario: &Scenario) -> Scenario {
    Scenario { trouble: Trouble::None, is_mirrored: false, sessions: 1, ..scenario.clone() }
}

/// Uses a store, and leaves it closed or in use.
pub(crate) fn left_store(scenario: &Scenario, left: Left) -> Result<Closed, String> {
    let mut closed = closed_store(scenario)?;
    if left == Left::PowerCut {
        // A single client, so that each commit proves the one before.
        closed.go_on(&Scenario { clients: 1, gather_bytes: 0, ..scenario.clone() })?;
    }
    Ok(closed)
}

fn closed_store(scenario: &Scenario) -> Result<Closed, String> {
    let purpose = Purpose { is_recorded: false, has_trouble: false, seed: scenario.seed };
    let stage = Stage::new(scenario, &Stage::blank(scenario)?, purpose)?;
    make_store(&stage, scenario)?;
    let mut contents = stage.contents();
    let mut record = unwritten(scenario, Page::blank());
    let (mut states, mut next_version) = (contents.clone(), 1);
    for number in 0..LIVES as u64 {
        let promised = record.promised(u64::MAX);
        let remains = Remains { contents: &contents, record: &record, promised, next_version };
        let purpose = Purpose { seed: scenario.seed ^ number << 48, ..purpose };
        let plan = Plan::work(purpose, 1, scenario.steps);
        let life = live_and_close(scenario, &remains, plan)?;
        contents = life.media.iter().map(|media| media.borrow().contents().clone()).collect();
        next_version = life.next_version;
        record = life.sessions.last().ok_or("nothing was asked of the store")?.record.clone();
        states.extend(contents.iter().cloned());
    }
    let promised = record.promised(u64::MAX);
    Ok(Closed { states, record, promised, last_close: None, next_version })
}

impl Closed {
    /// Opens the store and works until the power goes off.
    pub(crate) fn go_on(&mut self, scenario: &Scenario) -> Result<(), String> {
        let contents = [self.newest()?.clone()];
        let Self { record, promised, next_version, .. } = &*self;
        let (promised, next_version) = (promised.clone(), *next_version);
        let last_close = Promise { batches: vec![0; scenario.clients], ..promised.clone() };
        let remains = Remains { contents: &contents, record, promised, next_version };
        let purpose = Purpose { is_recorded: false, has_trouble: false, seed: scenario.seed ^ 0xc0_4a54 };
        let life = live(scenario, &remains, Plan::work(purpose, 1, 2 * scenario.steps))?;
        self.record = life.sessions.last().ok_or("nothing was asked of the store")?.record.clone();
        self.promised = self.record.promised_but_the_last();
        self.last_close = Some(last_close);
        self.states.extend(life.media.iter().map(|media| media.borrow().contents().clone()));
        Ok(())
    }

    /// Lowers the promise to that of the last close. One block may hold all evidence of later
    /// commits.
    pub(crate) fn forget_last_life(&mut self) {
        if let Some(promised) = self.last_close.take() {
            self.promised = promised;
        }
    }

    pub(crate) fn states(&self) -> &[Contents] {
        &self.states
    }

    /// Number of pages that the store must have.
    pub(crate) fn pages(&self) -> u64 {
        self.promised.pages
    }

    /// Returns the first broken promise among the contents read. Failed reads break none.
    pub(crate) fn complaint(&self, seen: &Seen) -> Option<String> {
        let Seen { pages, found, last } = seen;
        if let Some(found) = found.iter().copied().collect::<Option<Vec<Found>>>() {
            let looked = Looked { pages: *pages, found, last: *last };
            return judge(&self.record, &self.promised, &looked).err();
        }
        self.page_complaint(found)
    }

    /// Returns the first page whose own contents are wrong.
    pub(crate) fn page_complaint(&self, found: &[Option<Found>]) -> Option<String> {
        let found = (0..).zip(found).filter_map(|(page, found)| Some((page, (*found)?)));
        let wrong =
            found.into_iter().find(|(page, found)| !self.record.may_hold(*page, &self.promised, *found));
        wrong.map(|(page, found)| format!("page {page} reads as {found}"))
    }

    /// Returns true if a page may have no contents.
    pub(crate) fn may_be_empty(&self, page: u64) -> bool {
        self.record.may_hold(page, &self.promised, Found::Nothing)
    }

    pub(crate) fn newest(&self) -> Result<&Contents, String> {
        self.states.last().ok_or_else(|| "the store was never closed".to_owned())
    }

    fn read(contents: &Contents, block: u64) -> Vec<u8> {
        let mut bytes = vec![0; BLOCK_BYTES];
        // The device's last block may be partial; the rest reads as zeros.
        _ = contents.read_into(block * BLOCK_BYTES as u64, &mut bytes);
        bytes
    }

    /// Blocks other than zeros.
    pub(crate) fn written_blocks(&self) -> Vec<u64> {
        let Ok(newest) = self.newest() else { return Vec::new() };
        let blocks = newest.capacity_bytes() / BLOCK_BYTES as u64;
        (0..blocks).filter(|block| Self::read(newest, *block).iter().any(|byte| *byte != 0)).collect()
    }

    /// The device with a damaged block, or `None` if the damage changes nothing.
    fn damaged(
        &self,
        block: u64,
        damage: Damage,
        random: &mut Xoshiro256PlusPlus,
    ) -> Result<Option<Contents>, String> {
        let newest = self.newest()?;
        let before = Self::read(newest, block);
        let mut after = before.clone();
        match damage {
            Damage::FlippedBit => {
                let bit = random.random_range(0..8 * BLOCK_BYTES);
                if let Some(byte) = after.get_mut(bit / 8) {
                    *byte ^= 1 << (bit % 8);
                }
            }
            Damage::Zeroed => after.fill(0),
            Damage::Older(closings) => {
                let older = self.states.len().checked_sub(1 + closings).and_then(|at| self.states.get(at));
                after = Self::read(older.ok_or("it wasn't closed so often")?, block);
            }
        }
        if after == before { Ok(None) } else { overwritten(newest, block, &after).map(Some) }
    }

    /// Opens the device's store, and reads all pages.
    fn answer(&self, scenario: &Scenario, contents: &Contents) -> Result<Answer, String> {
        let purpose = Purpose { is_recorded: false, has_trouble: false, seed: scenario.seed };
        let stage = Stage::new(scenario, std::slice::from_ref(contents), purpose)?;
        let (handle, device, options) = (stage.runtime.handle(), stage.device, scenario.open_options());
        let places = Places::of(scenario);
        Ok(stage.runtime.block_on(async {
            let Ok(store) = Store::open(&handle, device, options).await else { return Answer::Refused };
            let seen = places.look(&store).await;
            match self.complaint(&seen) {
                Some(what) => Answer::Silent(what),
                None if seen.found.contains(&None) => Answer::Told,
                None => Answer::Right,
            }
        }))
    }
}

/// Contents with one or more consecutive blocks replaced.
pub(crate) fn overwritten(contents: &Contents, block: u64, bytes: &[u8]) -> Result<Contents, String> {
    let mut media = Media::on(contents.clone());
    let arena = Arena::new(bytes.len()).map_err(|error| error.to_string())?;
    let mut buffer = arena.allocate(bytes.len()).map_err(|error| error.to_string())?;
    buffer.copy_from_slice(bytes);
    let mut write = Operation::write(block * BLOCK_BYTES as u64, buffer.freeze());
    let id = media.begin(&write).map_err(|cause| cause.to_string())?;
    media.complete(id, &mut write).result.map_err(|cause| cause.to_string())?;
    Ok(media.contents().clone())
}
