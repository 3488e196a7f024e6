use std::collections::HashSet;

use nandle_model::media::{Contents, CrashImage, CrashImages, PowerCut};
use nandle_pages::{PageError, Store};
use xxhash_rust::xxh3::xxh3_128;

use crate::life::{Life, Plan, Remains, Session, live, unwritten};
use crate::oracle::{Page, Promise, Record};
use crate::salvaged;
use crate::scenario::Scenario;
use crate::stage::{Purpose, Stage, position, with_recordings};
use crate::whole_life::whole_life;

/// Depth of lives that start from a power cut and are cut themselves.
const DEPTH_MAX: u32 = 2;
/// Images for each such life.
const IMAGES_PER_LIFE: u64 = 48;
/// Period of images that are salvaged, too.
const IMAGES_PER_SALVAGE: u64 = 8;
/// Period of histories in which the creation is cut.
const HISTORIES_PER_CREATION: u64 = 4;

/// Results of a history.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Distinct images that were opened and judged.
    pub images: u64,
    /// Images that were salvaged, too, unchanged and with a bad mapping unit.
    pub salvaged: u64,
    /// Lives that were recorded and cut.
    pub lives: u64,
    /// First violation, which ends the history.
    pub violation: Option<Violation>,
}

/// A broken contract of a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Seed of the history.
    pub seed: u64,
    /// Power cuts that lead to the violation, in order.
    pub steps: Vec<Step>,
    /// Description of the violation.
    pub what: String,
}

/// A power cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// Number of events of the life before the cut.
    pub cut: u64,
    /// Number of the choice of surviving writes.
    pub choice: u32,
}

/// Explores a scenario's history with a power cut at every event.
pub fn explore(scenario: &Scenario) -> Outcome {
    if scenario.rounds > 0 {
        return whole_life(scenario);
    }
    let mut explorer =
        Explorer { scenario, outcome: Outcome::default(), seen: HashSet::new(), steps: Vec::new() };
    if let Err(what) = explorer.history() {
        let steps = std::mem::take(&mut explorer.steps);
        explorer.outcome.violation = Some(Violation { seed: scenario.seed, steps, what });
    }
    explorer.outcome
}

struct Explorer<'a> {
    scenario: &'a Scenario,
    outcome: Outcome,
    /// Hashes of images with their promises.
    seen: HashSet<u128>,
    steps: Vec<Step>,
}

/// Record of the requests before a life, with the life's unique number.
#[derive(Clone, Copy)]
struct Before<'a> {
    record: &'a Record,
    promised: &'a Promise,
    number: u64,
}

impl Explorer<'_> {
    fn history(&mut self) -> Result<(), String> {
        let (contents, page) = self.create()?;
        let record = unwritten(self.scenario, page);
        let promised = Promise::of_new(self.scenario.pages);
        let remains =
            Remains { contents: &contents, record: &record, promised: promised.clone(), next_version: 1 };
        let purpose = Purpose { is_recorded: true, has_trouble: true, seed: self.scenario.seed };
        let plan = Plan::work(purpose, self.scenario.sessions, self.scenario.steps);
        let life = live(self.scenario, &remains, plan)?;
        self.cut_life(&life, Before { record: &record, promised: &promised, number: 0 }, 0)
    }

    /// Cuts the power at every event of a life.
    fn cut_life(&mut self, life: &Life, before: Before<'_>, depth: u32) -> Result<(), String> {
        self.outcome.lives += 1;
        let own_number = self.outcome.lives << 8;
        let power = self.scenario.power_cut(depth);
        with_recordings(&life.media, |recordings| {
            for image in CrashImages::new(recordings, power) {
                let remains = match life.session_at(image.cut) {
                    None => before,
                    Some((index, Session { record, .. })) => {
                        let promised = record.promised(image.cut);
                        Before { record, promised: &promised.clone(), number: own_number + index as u64 }
                    }
                };
                if self.is_new(&image, remains) {
                    self.steps.push(Step { cut: image.cut, choice: image.choice });
                    self.judge(&image, remains, life.next_version, depth)?;
                    self.steps.pop();
                }
            }
            Ok(())
        })
    }

    /// Opens an image left by a power cut. Some images start another life with power cuts of its
    /// own.
    fn judge(
        &mut self,
        image: &CrashImage,
        before: Before<'_>,
        next_version: u64,
        depth: u32,
    ) -> Result<(), String> {
        self.outcome.images += 1;
        let number = self.outcome.images;
        let goes_on = depth < DEPTH_MAX && number.is_multiple_of(IMAGES_PER_LIFE);
        let purpose = Purpose { is_recorded: goes_on, has_trouble: false, seed: self.seed_of(number) };
        let plan = if goes_on {
            Plan::work(purpose, 1, 1 + self.scenario.steps / 5)
        } else {
            Plan::opening(purpose)
        };
        let Before { record, promised, .. } = before;
        let remains = Remains { contents: &image.contents, record, promised: promised.clone(), next_version };
        let life = live(self.scenario, &remains, plan)?;
        if number.is_multiple_of(IMAGES_PER_SALVAGE) {
            let (scenario, contents, seed) = (self.scenario, &*image.contents, purpose.seed);
            salvaged::Image { scenario, contents, record, promised, seed }.check()?;
            self.outcome.salvaged += 1;
        }
        if goes_on { self.cut_life(&life, before, depth + 1) } else { Ok(()) }
    }

    /// Seed of an image's life, which among other things selects the valid leg of a mirror.
    fn seed_of(&self, image: u64) -> u64 {
        self.scenario.seed ^ image ^ image << 16
    }

    /// Returns true if no image with these contents was judged by this record and promise.
    fn is_new(&mut self, image: &CrashImage, before: Before<'_>) -> bool {
        let mut key = image.hash().to_le_bytes().to_vec();
        let Promise { batches, pages, number } = before.promised;
        let numbers = batches.iter().map(|count| *count as u64).chain([*pages, number.0, before.number]);
        key.extend(numbers.flat_map(u64::to_le_bytes));
        self.seen.insert(xxh3_128(&key))
    }

    /// Creates the store with power cuts, in some histories over the remains of another store.
    fn create(&mut self) -> Result<(Vec<Contents>, Page), String> {
        let is_cut = self.scenario.seed / 4 % HISTORIES_PER_CREATION < 2;
        let mut contents = Stage::blank(self.scenario)?;
        let mut page = Page::blank();
        if self.has_another() {
            contents = self.leave_another(&contents)?;
            page = Page::unknown();
        }
        let purpose = Purpose { is_recorded: is_cut, has_trouble: false, seed: self.scenario.seed };
        let stage = Stage::new(self.scenario, &contents, purpose)?;
        make_store(&stage, self.scenario)?;
        let created = stage.contents();
        let created_at = position(&stage.media);
        if is_cut {
            self.cut_creation(&stage, created_at, page.clone())?;
        }
        Ok((created, page))
    }

    /// Creates and uses another store on the device.
    fn leave_another(&mut self, contents: &[Contents]) -> Result<Vec<Contents>, String> {
        let purpose = Purpose { is_recorded: false, has_trouble: false, seed: self.scenario.seed };
        let pages = self.scenario.pages - 1;
        // Smaller, so that its size distinguishes it from the store created over it.
        let other = Scenario { pages, pages_max: pages, ..self.scenario.clone() };
        let stage = Stage::new(&other, contents, purpose)?;
        make_store(&stage, &other)?;
        let contents = stage.contents();
        let record = unwritten(&other, Page::blank());
        let remains = Remains {
            contents: &contents,
            record: &record,
            promised: Promise::of_new(other.pages),
            next_version: 1 << 31,
        };
        let life = live(&other, &remains, Plan::work(purpose, 1, other.steps))?;
        Ok(life.media.iter().map(|media| media.borrow().contents().clone()).collect())
    }

    /// Cuts the creation at every event. A store may be missing before its creation completes, but
    /// not after.
    fn cut_creation(&mut self, stage: &Stage, created_at: u64, page: Page) -> Result<(), String> {
        let record = unwritten(self.scenario, page);
        let promised = Promise::of_new(self.scenario.pages);
        let power = PowerCut { choices: 4, ..self.scenario.power_cut(0) };
        with_recordings(&stage.media, |recordings| {
            for image in CrashImages::new(recordings, power) {
                let is_made = image.cut >= created_at;
                let number = u64::MAX - u64::from(is_made);
                let before = Before { record: &record, promised: &promised, number };
                if self.is_new(&image, before) {
                    self.steps.push(Step { cut: image.cut, choice: image.choice });
                    if is_made || self.is_whole(&image)? {
                        self.judge(&image, before, 1, DEPTH_MAX)?;
                    } else {
                        self.outcome.images += 1;
                    }
                    self.steps.pop();
                }
            }
            Ok(())
        })
    }

    /// Returns true if the image holds the new store.
    fn is_whole(&self, image: &CrashImage) -> Result<bool, String> {
        let seed = self.seed_of(self.outcome.images + 1);
        let purpose = Purpose { is_recorded: false, has_trouble: false, seed };
        let stage = Stage::new(self.scenario, &image.contents, purpose)?;
        let (handle, device, options) = (stage.runtime.handle(), stage.device, self.scenario.open_options());
        match stage.runtime.block_on(async { Store::open(&handle, device, options).await }) {
            Ok(store) => Ok(store.pages() == self.scenario.pages),
            Err(PageError::NotAStore { .. }) => Ok(false),
            // The other store, partly overwritten.
            Err(_) if self.has_another() => Ok(false),
            Err(error) => Err(format!("a store that wasn't made to its end: {error}")),
        }
    }

    /// Returns true if another store was on the device before.
    fn has_another(&self) -> bool {
        self.scenario.seed / 4 % HISTORIES_PER_CREATION == 1
    }
}

/// Creates a scenario's store on a stage, and closes it.
pub(crate) fn make_store(stage: &Stage, scenario: &Scenario) -> Result<(), String> {
    let options = scenario.create_options();
    let (handle, device) = (stage.runtime.handle(), stage.device);
    let made = stage.runtime.block_on(async {
        Store::create(&handle, device, &options, scenario.open_options()).await?.close().await
    });
    made.map_err(|error| format!("making the store: {error}"))
}
