//! The normal run: distinct crash images of every policy, none of them wrong.
#![allow(missing_docs, reason = "tests")]

use nandle_crash::{Campaign, Scenario, explore, run};

#[test]
fn fifty_thousand_images_and_no_violation() {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let summary = run(Campaign { seed: 1, images: 50_000, threads }, &|_| {});
    println!("{summary:?}");
    assert_eq!(summary.violations, []);
    assert!(summary.total() >= 50_000);
    assert_eq!(summary.images.len(), nandle_pages::PolicyKind::ALL.len());
}

#[test]
fn a_history_is_a_pure_function_of_its_seed() {
    for seed in 100..108 {
        let first = explore(&Scenario::of(seed));
        assert!(first.images > 20, "history {seed}: {}", first.images);
        assert_eq!(explore(&Scenario::of(seed)), first);
    }
}

#[test]
fn threads_change_nothing() {
    let campaign = |threads| run(Campaign { seed: 200, images: 3000, threads }, &|_| {});
    assert_eq!(campaign(1), campaign(3));
}

/// A group that superseded what it would have taken the place of used to stop the draining that makes room.
#[test]
fn draining_goes_on_while_a_group_waits_for_room() {
    for seed in [30, 70, 82] {
        assert_eq!(explore(&Scenario::of(seed)).violation, None, "history {seed}");
    }
}
