//! Stores that grow while clients work, and stores with several chunks of checksums.
#![allow(missing_docs, clippy::print_stdout, reason = "tests, and helpers of tests are part of them")]

use nandle_crash::{CHUNK_PAGES, Scenario, explore};
use nandle_pages::PolicyKind;

/// Explores histories of all policies. Asserts that none breaks a promise, and returns the images.
fn explore_all(seeds: std::ops::Range<u64>, of: fn(u64, PolicyKind) -> Scenario) -> u64 {
    let (mut images, mut wrong) = (0, Vec::new());
    for policy in PolicyKind::ALL {
        for seed in seeds.clone() {
            let outcome = explore(&of(seed, policy));
            images += outcome.images;
            wrong.extend(outcome.violation.map(|violation| (policy, violation)));
        }
    }
    assert_eq!(wrong, []);
    images
}

#[test]
fn a_store_that_grows_loses_nothing() {
    let images = explore_all(1..5, Scenario::growing);
    assert!(images > 2000, "{images}");
}

#[test]
fn a_store_that_grows_lives_through_many_power_cuts() {
    explore_all(1..7, Scenario::growing_life);
}

#[test]
fn a_store_of_several_chunks_lives_through_many_power_cuts() {
    explore_all(1..3, Scenario::large);
}

/// The scenarios cover the sizes that the tests above rely on.
#[test]
fn stores_grow_over_the_ends_of_chunks_and_large_ones_have_several() {
    let all: Vec<_> = (1..40).map(|seed| Scenario::growing(seed, PolicyKind::StableRing)).collect();
    assert!(all.iter().all(|scenario| scenario.pages < scenario.pages_max));
    let over_an_end =
        |scenario: &&Scenario| scenario.pages / CHUNK_PAGES < (scenario.pages_max - 1) / CHUNK_PAGES;
    assert!(all.iter().filter(over_an_end).count() > 10);
    let large = (1..40).map(|seed| Scenario::large(seed, PolicyKind::StableRing));
    assert!(large.into_iter().all(|scenario| scenario.pages > CHUNK_PAGES));
}
