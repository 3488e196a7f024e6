//! Stores with minimal memory, under power cuts: no call fails for lack of memory or waits forever.
#![allow(missing_docs, reason = "tests")]

use nandle_crash::{Scenario, explore};
use nandle_pages::PolicyKind;

/// The minimum, and slightly more.
const MEMORY_PAGES: [usize; 2] = [8, 17];

fn lives(of: fn(u64, PolicyKind) -> Scenario, seeds: std::ops::Range<u64>) {
    let mut wrong = Vec::new();
    for policy in PolicyKind::ALL {
        for (seed, memory_pages) in seeds.clone().zip(MEMORY_PAGES.into_iter().cycle()) {
            let outcome = explore(&Scenario { memory_pages, clients: 2, ..of(seed, policy) });
            wrong.extend(outcome.violation.map(|violation| (policy, memory_pages, violation)));
        }
    }
    assert_eq!(wrong, []);
}

#[test]
fn every_cut_of_a_life_leaves_a_whole_store() {
    lives(Scenario::with_policy, 1..3);
}

#[test]
fn a_store_lives_through_many_power_cuts() {
    lives(Scenario::whole_life, 1..5);
}
