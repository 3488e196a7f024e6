//! Bad blocks: unreadable, zeroed or filled with noise. Each block that a store ever wrote is made
//! bad, alone or with its neighbours, after the store was closed or lost power. The store is opened
//! read-only and read-write, and every page is read. A closed store must open, and only pages in
//! bad blocks may return errors. After every page is rewritten, the store must work without errors.
//! Salvage returns the pages that an opening reads; after a power cut it calls a page sound only
//! if the page may have these contents.

use std::ops::Range;

use nandle_model::media::Contents;
use nandle_pages::salvage::PageState;
use nandle_pages::{BLOCK_BYTES, Batch, OpenOptions, PageError, PageNumber, Store};

use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::contents::{Found, fill, header};
use crate::corruption::{Closed, Left, left_store, overwritten, undisturbed};
use crate::places::{Places, Seen};
use crate::salvaged::{Salvaged, salvage};
use crate::scenario::Scenario;
use crate::stage::{Purpose, Stage};

const BLOCK: u64 = BLOCK_BYTES as u64;
/// Versions from this one on are used by no client.
const NEW_VERSION: u64 = 1 << 31;

/// Kind of damage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bad {
    /// Reads fail until the blocks are rewritten.
    Unreadable,
    /// Zeros.
    Zeroed,
    /// Noise.
    Noise,
}

impl Bad {
    const ALL: [Self; 3] = [Self::Unreadable, Self::Zeroed, Self::Noise];
}

/// Results of the trials of one store.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BadBlocks {
    /// Damaged runs of blocks, counted once per kind of damage.
    pub trials: u64,
    /// Openings of stores with bad blocks.
    pub openings: u64,
    /// Openings that failed.
    pub refused: u64,
    /// Reads of pages that returned errors.
    pub lost_pages: u64,
    /// Broken promises.
    pub violations: Vec<Violated>,
}

/// A broken promise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violated {
    /// Seed of the history.
    pub seed: u64,
    /// Kind of damage.
    pub bad: Bad,
    /// Damaged blocks of the device.
    pub blocks: Range<u64>,
    /// Observed behaviour.
    pub what: String,
}

impl BadBlocks {
    /// Adds the results of another run.
    pub fn add(&mut self, other: Self) {
        self.trials += other.trials;
        self.openings += other.openings;
        self.refused += other.refused;
        self.lost_pages += other.lost_pages;
        self.violations.extend(other.violations);
    }
}

/// Uses a store, then makes runs of `unit_blocks` blocks bad, one run at a time.
///
/// # Errors
/// The store fails before any damage is done.
///
/// # Panics
/// `unit_blocks` is 0.
pub fn bad_blocks(scenario: &Scenario, left: Left, unit_blocks: u64) -> Result<BadBlocks, String> {
    assert!(unit_blocks > 0, "a run has a block at least");
    let scenario = Scenario {
        // Each page then occupies blocks of its own.
        compresses: false,
        // The staging area must have room for pages other than the lost ones.
        buffer_bytes: scenario.buffer_bytes.max(if unit_blocks > 1 { 4 * unit_blocks * BLOCK } else { 0 }),
        ..undisturbed(scenario)
    };
    let mut closed = left_store(&scenario, left)?;
    if unit_blocks > 1 {
        closed.forget_last_life();
    }
    let mut units: Vec<u64> = closed.written_blocks().iter().map(|block| block / unit_blocks).collect();
    units.dedup();
    let mut outcome = BadBlocks::default();
    for (unit, bad) in units.into_iter().flat_map(|unit| Bad::ALL.map(|bad| (unit, bad))) {
        let blocks = unit * unit_blocks..(unit + 1) * unit_blocks;
        let trial = Trial { scenario: &scenario, closed: &closed, left, bad, blocks };
        outcome.trials += 1;
        for read_only in [true, false] {
            if let Err(what) = trial.run(read_only, &mut outcome) {
                let (seed, blocks) = (scenario.seed, trial.blocks.clone());
                outcome.violations.push(Violated { seed, bad, blocks, what });
            }
        }
    }
    Ok(outcome)
}

/// A store with bad blocks.
struct Trial<'a> {
    scenario: &'a Scenario,
    closed: &'a Closed,
    left: Left,
    bad: Bad,
    blocks: Range<u64>,
}

impl Trial<'_> {
    fn run(&self, read_only: bool, outcome: &mut BadBlocks) -> Result<(), String> {
        let opened = self.open(read_only, outcome)?;
        if !read_only {
            return Ok(());
        }
        let salvaged = salvage(&self.stage()?, &Places::of(self.scenario))?;
        let judged = match opened.filter(|_| self.left == Left::Closed) {
            Some(seen) => self.compare(&salvaged, &seen),
            None => self.judge_salvaged(&salvaged),
        };
        judged.map_err(|what| format!("salvage: {what}; {:?}", salvaged.report))
    }

    /// Checks that salvage of a closed store finds every page that an opening reads, as sound.
    fn compare(&self, salvaged: &Salvaged, seen: &Seen) -> Result<(), String> {
        let checks = self.scenario.policy.promises().checks_pages;
        for ((page, opened), salvaged) in (0..).zip(&seen.found).zip(&salvaged.found) {
            // A discarded page may be empty, or hold earlier contents.
            let Some(opened) = opened.filter(|_| !self.closed.may_be_empty(page)) else { continue };
            // Without checksums a page of zeros is an empty one.
            let is_same = salvaged.map_or(opened == Found::Whole(0) && !checks, |(found, state)| {
                found == opened && (state == PageState::Sound || !checks)
            });
            if !is_same {
                return Err(format!("page {page} is {salvaged:?}, and an opening reads {opened}"));
            }
        }
        Ok(())
    }

    /// Checks that pages called sound after a power cut have contents that they may hold.
    fn judge_salvaged(&self, salvaged: &Salvaged) -> Result<(), String> {
        let sound = salvaged.found.iter().map(|found| match found {
            Some((found, PageState::Sound)) => Some(*found),
            _ => None,
        });
        let complaint = self.closed.page_complaint(&sound.collect::<Vec<_>>());
        // Without checksums an older ledger goes unnoticed.
        complaint.filter(|_| self.scenario.policy.promises().checks_pages).map_or(Ok(()), Err)
    }

    /// Opens the store and reads all of it. Returns `None` if it doesn't open.
    fn open(&self, read_only: bool, outcome: &mut BadBlocks) -> Result<Option<Seen>, String> {
        let stage = self.stage()?;
        let (handle, device) = (stage.runtime.handle(), stage.device);
        let options = OpenOptions { read_only, ..self.scenario.open_options() };
        let places = Places::of(self.scenario);
        outcome.openings += 1;
        stage.runtime.block_on(async {
            let store = match Store::open(&handle, device, options).await {
                Ok(store) => store,
                Err(error) => {
                    outcome.refused += 1;
                    let may_refuse = self.left == Left::PowerCut;
                    return if may_refuse { Ok(None) } else { Err(format!("it doesn't open: {error}")) };
                }
            };
            let seen = places.look(&store).await;
            outcome.lost_pages += seen.found.iter().filter(|found| found.is_none()).count() as u64;
            self.judge(&seen)?;
            if read_only {
                return Ok(Some(seen));
            }
            let again = |error: PageError| format!("writing every page again: {error}");
            write_all(&store, &places).await.map_err(again)?;
            store.close().await.map_err(again)?;
            let store = Store::open(&handle, device, options).await.map_err(again)?;
            let found = places.look(&store).await.found;
            let is_new =
                |(page, found): (u64, &Option<Found>)| *found == Some(Found::Whole(NEW_VERSION + page));
            let old = (0..).zip(&found).find(|it| !is_new(*it));
            match old {
                Some((page, found)) => Err(format!("page {page}, written again, reads as {found:?}")),
                None => Ok(Some(seen)),
            }
        })
    }

    fn stage(&self) -> Result<Stage, String> {
        let newest: &Contents = self.closed.newest()?;
        let capacity_bytes = newest.capacity_bytes() / BLOCK * BLOCK;
        let bytes = self.blocks.start * BLOCK..(self.blocks.end * BLOCK).min(capacity_bytes);
        let purpose = Purpose { is_recorded: false, has_trouble: false, seed: self.scenario.seed };
        match self.bad {
            Bad::Unreadable => Stage::with_unreadable(self.scenario, newest, bytes, purpose),
            Bad::Zeroed | Bad::Noise => {
                let length = usize::try_from(bytes.end - bytes.start).map_err(|error| error.to_string())?;
                let mut contents = vec![0; length];
                if self.bad == Bad::Noise {
                    newest.read_into(bytes.start, &mut contents).map_err(|error| error.to_string())?;
                    self.add_noise(&mut contents);
                }
                let other = overwritten(newest, self.blocks.start, &contents)?;
                Stage::new(self.scenario, &[other], purpose)
            }
        }
    }

    /// Fills the blocks in use with noise. Unwritten pages stay unwritten.
    fn add_noise(&self, contents: &mut [u8]) {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(self.scenario.seed);
        let blocks = contents.chunks_mut(BLOCK_BYTES);
        blocks.filter(|block| block.iter().any(|byte| *byte != 0)).for_each(|block| random.fill_bytes(block));
    }

    /// Returns an error if the pages read break a promise.
    fn judge(&self, seen: &Seen) -> Result<(), String> {
        let found = &seen.found;
        let checks = self.scenario.policy.promises().checks_pages;
        let is_told = self.bad == Bad::Unreadable && self.left == Left::Closed;
        // One unit may hold the headers of all recent commits, whose pages may already be home.
        let is_by_page = self.left == Left::PowerCut && self.blocks.end - self.blocks.start > 1;
        let complaint =
            if is_by_page { self.closed.page_complaint(found) } else { self.closed.complaint(seen) };
        if let Some(what) = complaint.filter(|_| checks || is_told) {
            return Err(what);
        }
        let unreadable = found.iter().filter(|found| found.is_none()).count() as u64;
        let room_bytes = (self.blocks.end - self.blocks.start) * BLOCK;
        let most = room_bytes.div_ceil(self.scenario.page_bytes as u64);
        if unreadable <= most {
            return Ok(());
        }
        Err(format!("{unreadable} pages are errors, and no more than {most} lay in the blocks"))
    }
}

/// Writes every used page, and destages all pages.
async fn write_all(store: &Store, places: &Places) -> Result<(), PageError> {
    for (version, page) in (NEW_VERSION..).zip(places.all(store.pages())) {
        let mut batch = Batch::new();
        if page == PageNumber::HEADER {
            batch.set_header(header(version));
        } else {
            let mut buffer = store.buffer()?;
            fill(&mut buffer, page.0, version);
            batch.put(page, buffer.freeze());
        }
        store.commit(batch).await?;
    }
    store.checkpoint().await
}
