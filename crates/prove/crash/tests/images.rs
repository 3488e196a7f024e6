//! Regular run: distinct crash images of every policy, without a violation.
#![allow(missing_docs, reason = "tests")]

use nandle_crash::{Campaign, Scenario, Trouble, explore, run};
use nandle_pages::PolicyKind;

#[test]
fn fifty_thousand_images_and_no_violation() {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let summary = run(Campaign { seed: 1, images: 50_000, threads }, &|_| {});
    println!("{summary:?}");
    assert_eq!(summary.violations, []);
    assert!(summary.total() >= 50_000);
    assert!(summary.salvaged > 4000, "{} images were salvaged as well", summary.salvaged);
    assert_eq!(summary.images.len(), PolicyKind::ALL.len());
}

/// Histories that the oracle once misjudged. It mistook an old store that had grown to the new
/// store's size for the new one, and ignored earlier contents of the old store's pages.
#[test]
fn a_store_made_over_another_one_is_told_from_it() {
    for seed in [31_000_118, 31_000_183, 31_000_273, 31_000_357, 31_000_549, 31_001_269] {
        assert_eq!(explore(&Scenario::of(seed)).violation, None, "history {seed}");
    }
}

/// The first of two extents in flight failed, and the second counted as written. One of its pages
/// was then read beyond the end of the log.
#[test]
fn nothing_counts_as_written_behind_an_extent_that_failed() {
    assert_eq!(explore(&Scenario::of(41_000_200)).violation, None);
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

/// After a failed flush the store is opened again without a power cut. Its contents must then be
/// stable.
#[test]
fn a_store_whose_flush_failed_is_opened_again() {
    use PolicyKind::{DoubleWrite, OutOfPlace, StableBuffer, StableRing};
    let policies = [DoubleWrite, StableBuffer, StableRing, OutOfPlace];
    // Past violations: a ledger that was never durable was trusted; pages were destaged before
    // their ledger was durable; two failures in a row overwrote the last durable ledger.
    let once_wrong = [(3, DoubleWrite), (17, DoubleWrite), (170, StableRing)];
    let histories = (1..=6).flat_map(|seed| policies.map(|policy| (seed, policy))).chain(once_wrong);
    let mut images = 0;
    for (seed, policy) in histories {
        let scenario = Scenario::with_policy(seed, policy);
        let steps = 2 * scenario.steps;
        let outcome = explore(&Scenario { trouble: Trouble::FailedFlush, sessions: 4, steps, ..scenario });
        assert_eq!(outcome.violation, None, "{policy}, history {seed}");
        images += outcome.images;
    }
    assert!(images > 1000, "{images}");
}

/// `auto` switches its policy repeatedly, and empties its staging area during direct writes.
#[test]
fn a_store_that_changes_its_way_loses_nothing() {
    let mut images = 0;
    for seed in 1..=40 {
        let scenario = Scenario::with_policy(seed, PolicyKind::Auto);
        let (steps, turn_pages) = (2 * scenario.steps, Some(1 + seed % 12));
        let outcome = explore(&Scenario { steps, turn_pages, ..scenario });
        assert_eq!(outcome.violation, None, "history {seed}");
        images += outcome.images;
    }
    assert!(images > 4000, "{images}");
}

/// Histories that once revealed a violation.
#[test]
fn what_was_wrong_once_is_right() {
    use PolicyKind::{DoubleWrite, StableBuffer};
    let histories = [
        // A group that superseded a page in its own destination blocked reclaim.
        (StableBuffer, [30, 70, 82].as_slice()),
        // An extent written to dead slots of an older one set their bits in the ledger, so recovery
        // treated dead slots as live.
        (StableBuffer, &[1022, 1238]),
        // A page that was superseded during its destage, with its slot reused, stopped the store.
        (DoubleWrite, &[1049, 1437]),
        // Recovery rewrote acknowledged pages in place, and the next power cut tore them inside a
        // block.
        (PolicyKind::OutOfPlace, &[19, 69, 84]),
    ];
    for (policy, seeds) in histories {
        for &seed in seeds {
            let outcome = explore(&Scenario::with_policy(seed, policy));
            assert_eq!(outcome.violation, None, "{policy}, history {seed}");
        }
    }
}
