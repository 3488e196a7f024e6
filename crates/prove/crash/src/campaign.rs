use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use nandle_pages::PolicyKind;

use crate::explore::{Outcome, Violation, explore};
use crate::scenario::Scenario;

/// Runs histories until they have yielded a number of images.
#[derive(Debug, Clone, Copy)]
pub struct Campaign {
    /// Seed of the first history; later histories count up from it.
    pub seed: u64,
    /// Minimum number of distinct images.
    pub images: u64,
    /// Threads that share the histories. The result doesn't depend on their number.
    pub threads: usize,
}

/// Results of a campaign.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summary {
    /// Histories explored.
    pub histories: u64,
    /// Lives that were recorded and cut.
    pub lives: u64,
    /// Distinct images, by policy.
    pub images: BTreeMap<&'static str, u64>,
    /// Images that were salvaged, too.
    pub salvaged: u64,
    /// First violation of each history that has any.
    pub violations: Vec<Violation>,
}

impl Summary {
    /// Distinct images of all policies together.
    pub fn total(&self) -> u64 {
        self.images.values().sum()
    }

    fn add(&mut self, seed: u64, outcome: Outcome) {
        self.histories += 1;
        self.lives += outcome.lives;
        self.salvaged += outcome.salvaged;
        *self.images.entry(policy(seed).name()).or_default() += outcome.images;
        self.violations.extend(outcome.violation);
    }
}

fn policy(seed: u64) -> PolicyKind {
    Scenario::of(seed).policy
}

/// Runs a campaign. `progress` receives the number of images after each history.
pub fn run(campaign: Campaign, progress: &(dyn Fn(u64) + Sync)) -> Summary {
    let next = AtomicU64::new(0);
    let outcomes = Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for _ in 0..campaign.threads.max(1) {
            scope.spawn(|| work(campaign, &next, &outcomes, progress));
        }
    });
    // Threads end at different histories. Only those count that a single thread would have reached.
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

/// Explores one history. A panic, such as that of a store that waits forever, counts as a
/// violation.
fn survive(seed: u64) -> Outcome {
    let explored = catch_unwind(AssertUnwindSafe(|| explore(&Scenario::of(seed))));
    explored.unwrap_or_else(|panic| {
        let said = panic.downcast_ref::<String>().cloned();
        let said = said.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        let what = format!("panicked: {}", said.unwrap_or_else(|| "without a message".to_owned()));
        Outcome { violation: Some(Violation { seed, steps: Vec::new(), what }), ..Outcome::default() }
    })
}
