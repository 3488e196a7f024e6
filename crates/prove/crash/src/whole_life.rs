//! Whole life of a store: many successive power cuts, each in a short life of its own. Most lives
//! only open the store, as the remains of an interrupted opening may matter only many openings
//! later. Some lives have failing flushes, and some recreate the store over its own remains. A few
//! additional power cuts of each life are checked without a further life. They catch a write
//! omitted by an opening, which shows only if the next life is cut at the right moment.

use nandle_model::media::{Contents, CrashImage, PowerCut, SharedMedia};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::explore::{Outcome, Step, Violation, make_store};
use crate::life::{Life, Plan, Remains, live, unwritten};
use crate::oracle::{Page, Promise, Record};
use crate::salvaged;
use crate::scenario::{Scenario, Trouble};
use crate::stage::{Purpose, Stage, position, with_recordings};

/// Period of rounds whose remains are salvaged.
const ROUNDS_PER_SALVAGE: u64 = 4;
/// Choices of survivors, of which one is used.
const CHOICES: u32 = 16;

/// Life between two power cuts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Round {
    /// Only opens the store.
    Opening,
    /// Clients write every page and continue. The power cut follows at the end.
    Filling,
    /// Clients work.
    Work,
    /// Clients work, and flushes fail.
    Trouble,
    /// Recreates the store over its remains.
    Anew,
}

/// Runs a scenario's rounds, each up to one power cut.
pub(crate) fn whole_life(scenario: &Scenario) -> Outcome {
    match made(scenario) {
        Ok(birth) => whole_life_from(scenario, &birth),
        Err(what) => {
            let violation = Some(Violation { seed: scenario.seed, steps: Vec::new(), what });
            Outcome { violation, ..Outcome::default() }
        }
    }
}

/// A store before the first round.
pub(crate) struct Birth {
    pub(crate) contents: Vec<Contents>,
    pub(crate) record: Record,
    pub(crate) promised: Promise,
}

fn made(scenario: &Scenario) -> Result<Birth, String> {
    let purpose = Purpose { is_recorded: false, has_trouble: false, seed: scenario.seed };
    let stage = Stage::new(scenario, &Stage::blank(scenario)?, purpose)?;
    make_store(&stage, scenario)?;
    let (record, promised) = (unwritten(scenario, Page::blank()), Promise::of_new(scenario.pages));
    Ok(Birth { contents: stage.contents(), record, promised })
}

/// Runs the rounds of an existing store.
pub(crate) fn whole_life_from(scenario: &Scenario, birth: &Birth) -> Outcome {
    let mut outcome = Outcome::default();
    let mut steps = Vec::new();
    if let Err(what) = go_through(scenario, birth, &mut outcome, &mut steps) {
        outcome.violation = Some(Violation { seed: scenario.seed, steps, what });
    }
    outcome
}

fn go_through(
    scenario: &Scenario,
    birth: &Birth,
    outcome: &mut Outcome,
    steps: &mut Vec<Step>,
) -> Result<(), String> {
    let mut store = Survivor::born(scenario, birth);
    for number in 0..scenario.rounds {
        let round = store.draw(number);
        outcome.lives += 1;
        match round {
            Round::Anew => store.make_anew(steps)?,
            Round::Opening | Round::Filling | Round::Work | Round::Trouble => {
                outcome.images += 1 + scenario.looks;
                store.go_on(round, steps, outcome)?;
            }
        }
    }
    // The last life has no power cut.
    let purpose = Purpose { is_recorded: false, has_trouble: false, seed: scenario.seed };
    store.live(scenario, Plan::work(purpose, 2, scenario.steps)).map(drop)
}

/// State and promises after the power cuts so far.
struct Survivor<'a> {
    scenario: &'a Scenario,
    random: Xoshiro256PlusPlus,
    contents: Vec<Contents>,
    record: Record,
    promised: Promise,
    next_version: u64,
}

impl<'a> Survivor<'a> {
    fn born(scenario: &'a Scenario, birth: &Birth) -> Self {
        Self {
            scenario,
            random: Xoshiro256PlusPlus::seed_from_u64(scenario.seed ^ 0x005e_ed0f_a11f_e5e5),
            contents: birth.contents.clone(),
            record: birth.record.clone(),
            promised: birth.promised.clone(),
            next_version: 1,
        }
    }

    /// Draws the kind of a round. The first round fills the store if the scenario asks for it.
    fn draw(&mut self, number: usize) -> Round {
        match self.random.random_range(0..100) {
            _ if number == 0 && self.scenario.fills_first => Round::Filling,
            _ if number == 0 => Round::Work,
            0..45 => Round::Opening,
            45..80 => Round::Work,
            80..95 => Round::Trouble,
            _ => Round::Anew,
        }
    }

    fn live(&self, scenario: &Scenario, plan: Plan) -> Result<Life, String> {
        let Self { contents, record, next_version, .. } = self;
        let promised = self.promised.clone();
        live(scenario, &Remains { contents, record, promised, next_version: *next_version }, plan)
    }

    fn salvage(&self, scenario: &Scenario) -> Result<(), String> {
        let Self { contents, record, promised, .. } = self;
        salvaged::Image { scenario, contents, record, promised, seed: scenario.seed }.check()
    }

    /// Runs a round up to its power cut.
    fn go_on(&mut self, round: Round, cuts: &mut Vec<Step>, outcome: &mut Outcome) -> Result<(), String> {
        let has_trouble = round == Round::Trouble;
        let trouble = if has_trouble { Trouble::FailedFlush } else { Trouble::None };
        let seed = self.random.random();
        let scenario = Scenario { seed, trouble, ..self.scenario.clone() };
        let sessions = match round {
            Round::Opening => 0,
            Round::Trouble => 4,
            Round::Filling => 1,
            Round::Work | Round::Anew => self.random.random_range(1..=2),
        };
        let steps = self.random.random_range(1..=self.scenario.steps);
        let purpose = Purpose { is_recorded: true, has_trouble, seed };
        let plan = Plan { purpose, sessions, steps, fills_first: round == Round::Filling };
        let life = self.live(&scenario, plan)?;
        for _ in 0..self.scenario.looks {
            let (step, left) = self.after_cut(&life);
            cuts.push(step);
            let purpose = Purpose { is_recorded: false, has_trouble: false, seed };
            left.live(&scenario, Plan::opening(purpose))?;
            if seed.is_multiple_of(ROUNDS_PER_SALVAGE) {
                left.salvage(&scenario)?;
                outcome.salvaged += 1;
            }
            cuts.pop();
        }
        let (step, left) = if round == Round::Filling { self.at_end(&life) } else { self.after_cut(&life) };
        cuts.push(step);
        *self = left;
        Ok(())
    }

    /// State after a power cut at a random event of a life.
    fn after_cut(&mut self, life: &Life) -> (Step, Self) {
        let end = position(&life.media);
        let cut = self.random.random_range(0..=end);
        self.cut_at(cut, life)
    }

    /// State after a power cut at the end of a life.
    fn at_end(&mut self, life: &Life) -> (Step, Self) {
        self.cut_at(position(&life.media), life)
    }

    fn cut_at(&mut self, cut: u64, life: &Life) -> (Step, Self) {
        let image = self.image(&life.media, cut);
        let step = Step { cut: image.cut, choice: image.choice };
        let (record, promised) = match life.session_at(image.cut) {
            Some((_, session)) => (session.record.clone(), session.record.promised(image.cut)),
            None => (self.record.clone(), self.promised.clone()),
        };
        let (contents, next_version, random) = (image.contents, life.next_version, self.random.clone());
        (step, Self { scenario: self.scenario, random, contents, record, promised, next_version })
    }

    /// An image that a power cut after `cut` events may leave.
    fn image(&mut self, media: &[SharedMedia], cut: u64) -> CrashImage {
        let power = PowerCut { choices: CHOICES, ..self.scenario.power_cut(0) };
        let choice = self.random.random_range(0..power.choices);
        with_recordings(media, |recordings| CrashImage::at(recordings, power, cut, choice))
    }

    /// Recreates the store over its remains. Half of the time a power cut interrupts it first, and
    /// it starts again.
    fn make_anew(&mut self, steps: &mut Vec<Step>) -> Result<(), String> {
        let purpose = Purpose { is_recorded: true, has_trouble: false, seed: self.random.random() };
        if self.random.random() {
            let stage = Stage::new(self.scenario, &self.contents, purpose)?;
            make_store(&stage, self.scenario)?;
            let cut = self.random.random_range(0..=position(&stage.media));
            let image = self.image(&stage.media, cut);
            steps.push(Step { cut: image.cut, choice: image.choice });
            self.contents = image.contents;
        }
        let stage = Stage::new(self.scenario, &self.contents, purpose)?;
        make_store(&stage, self.scenario)?;
        self.contents = stage.contents();
        self.record = unwritten(self.scenario, Page::unknown());
        self.promised = Promise::of_new(self.scenario.pages);
        Ok(())
    }
}
