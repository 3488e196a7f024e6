//! A store's whole life: many power cuts one after the other, each at one moment of a short life of its own, and most of
//! those lives are an opening and nothing else. What an opening leaves behind when it is cut off shows itself only many
//! openings later. Now and then a flush fails, and now and then the store is made anew over its own remains. Of each life a
//! few other power cuts are looked at as well, from which nothing goes on: what an opening left out comes back only where the
//! next run was cut off just when it had reached it.

use nandle_model::media::{Contents, CrashImage, PowerCut, SharedMedia};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::explore::{Outcome, Step, Violation, make_store};
use crate::life::{Life, Plan, Remains, live, unwritten};
use crate::oracle::{Page, Promise, Record};
use crate::scenario::{Scenario, Trouble};
use crate::stage::{Purpose, Stage, position, with_recordings};

/// Choices of survivors, one of which is taken.
const CHOICES: u32 = 16;

/// What happens until the next power cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Round {
    /// The store is opened, and nothing else.
    Opening,
    /// Clients write every page, go on working, and the power goes off after all that.
    Filling,
    /// Clients work with it.
    Work,
    /// The same, and flushes fail.
    Trouble,
    /// It is made anew over what is there.
    Anew,
}

/// Lives a scenario's rounds, each to one power cut.
pub(crate) fn whole_life(scenario: &Scenario) -> Outcome {
    match made(scenario) {
        Ok(birth) => whole_life_from(scenario, &birth),
        Err(what) => {
            let violation = Some(Violation { seed: scenario.seed, steps: Vec::new(), what });
            Outcome { violation, ..Outcome::default() }
        }
    }
}

/// A store, and what is known of it, before the first round.
pub(crate) struct Birth {
    pub(crate) contents: Vec<Contents>,
    pub(crate) record: Record,
    pub(crate) promised: Promise,
}

/// A new store.
fn made(scenario: &Scenario) -> Result<Birth, String> {
    let purpose = Purpose { is_recorded: false, has_trouble: false, seed: scenario.seed };
    let stage = Stage::new(scenario, &Stage::blank(scenario)?, purpose)?;
    make_store(&stage, scenario)?;
    let (record, promised) = (unwritten(scenario, Page::blank()), Promise::of_new(scenario.pages));
    Ok(Birth { contents: stage.contents(), record, promised })
}

/// Lives the rounds of a store that is there.
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
                store.go_on(round, steps)?;
            }
        }
    }
    // Nothing cuts the last one off.
    let purpose = Purpose { is_recorded: false, has_trouble: false, seed: scenario.seed };
    store.live(scenario, Plan::work(purpose, 2, scenario.steps)).map(drop)
}

/// What the power cuts so far have left, and what was promised of it.
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

    /// The first round fills the store.
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

    /// Lives to the next power cut.
    fn go_on(&mut self, round: Round, cuts: &mut Vec<Step>) -> Result<(), String> {
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
            cuts.pop();
        }
        let (step, left) = if round == Round::Filling { self.at_end(&life) } else { self.after_cut(&life) };
        cuts.push(step);
        *self = left;
        Ok(())
    }

    /// What is left when the power is cut anywhere in a life.
    fn after_cut(&mut self, life: &Life) -> (Step, Self) {
        let end = position(&life.media);
        let cut = self.random.random_range(0..=end);
        self.cut_at(cut, life)
    }

    /// What is left when it is cut after all that a life did.
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

    /// One of the images that a power cut after so many events may leave.
    fn image(&mut self, media: &[SharedMedia], cut: u64) -> CrashImage {
        let power = PowerCut { choices: CHOICES, ..self.scenario.power_cut(0) };
        let choice = self.random.random_range(0..power.choices);
        with_recordings(media, |recordings| CrashImage::at(recordings, power, cut, choice))
    }

    /// Makes the store anew over what is there; in half of the cases that is cut off first, and begun again.
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
