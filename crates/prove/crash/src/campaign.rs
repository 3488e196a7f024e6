use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use nandle_pages::PolicyKind;

use crate::explore::{Outcome, Violation, explore};
use crate::scenario::Scenario;

/// Many histories, as many as it takes for a number of images.
#[derive(Debug, Clone, Copy)]
pub struct Campaign {
    /// The first history's; the next ones have the next.
    pub seed: u64,
    /// Distinct images, at least.
    pub images: u64,
    /// Threads that share the histories. The result doesn't depend on it.
    pub threads: usize,
}

/// What came of a campaign.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summary {
    /// Histories.
    pub histories: u64,
    /// Lives that were recorded and cut.
    pub lives: u64,
    /// Distinct images, by policy.
    pub images: BTreeMap<&'static str, u64>,
    /// The histories in which something was wrong, and what was first.
    pub violations: Vec<Violation>,
}

impl Summary {
    /// Distinct images of all policies.
    pub fn total(&self) -> u64 {
        self.images.values().sum()
    }

    fn add(&mut self, seed: u64, outcome: Outcome) {
        self.histories += 1;
        self.lives += outcome.lives;
        *self.images.entry(policy(seed).name()).or_default() += outcome.images;
        self.violations.extend(outcome.violation);
    }
}

fn policy(seed: u64) -> PolicyKind {
    Scenario::of(seed).policy
}

/// Runs it. `progress` hears after each history how many images there are.
pub fn run(campaign: Campaign, progress: &(dyn Fn(u64) + Sync)) -> Summary {
    let next = AtomicU64::new(0);
    let outcomes = Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for _ in 0..campaign.threads.max(1) {
            scope.spawn(|| work(campaign, &next, &outcomes, progress));
        }
    });
    // Threads end at different histories; those count that one thread alone would have come to.
    let mut summary = Summary::default();
    for (number, outcome) in outcomes.into_inner().unwrap_or_else(PoisonError::into_inner) {
        if summary.total() >= campaign.images {
            break;
        }
        summary.add(campaign.seed.wrapping_add(number), outcome);
    }
    summary
}

fn work(
    campaign: Campaign,
    next: &AtomicU64,
    outcomes: &Mutex<BTreeMap<u64, Outcome>>,
    progress: &(dyn Fn(u64) + Sync),
) {
    loop {
        let number = next.fetch_add(1, Ordering::Relaxed);
        let outcome = survive(campaign.seed.wrapping_add(number));
        let mut outcomes = outcomes.lock().unwrap_or_else(PoisonError::into_inner);
        outcomes.insert(number, outcome);
        let images = outcomes.values().map(|outcome| outcome.images).sum();
        progress(images);
        if images >= campaign.images {
            return;
        }
    }
}

/// A history in which something panics, as a store does that waits for ever, is a violation like any other.
fn survive(seed: u64) -> Outcome {
    let explored = catch_unwind(AssertUnwindSafe(|| explore(&Scenario::of(seed))));
    explored.unwrap_or_else(|panic| {
        let said = panic.downcast_ref::<String>().cloned();
        let said = said.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        let what = format!("panicked: {}", said.unwrap_or_else(|| "without a message".to_owned()));
        Outcome { violation: Some(Violation { seed, steps: Vec::new(), what }), ..Outcome::default() }
    })
}
