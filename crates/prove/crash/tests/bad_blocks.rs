//! A bad block of a closed store costs only the pages in it.
#![allow(
    missing_docs,
    clippy::print_stdout,
    clippy::expect_used,
    reason = "tests, and helpers of tests are part of them"
)]

use nandle_crash::{BadBlocks, Left, Scenario, bad_blocks};
use nandle_pages::PolicyKind;

/// Blocks in a mapping unit of 64 KiB, or in a chunk of an array.
const UNIT_BLOCKS: u64 = 16;

/// Damages every run of blocks of a policy's stores in turn.
fn try_all(
    policy: PolicyKind,
    left: Left,
    unit_blocks: u64,
    seeds: std::ops::RangeInclusive<u64>,
) -> BadBlocks {
    let mut all = BadBlocks::default();
    for seed in seeds {
        let scenario = Scenario { page_bytes: 4096, ..Scenario::with_policy(seed, policy) };
        // Every other store grows.
        let more = if seed % 2 == 0 { 1 + seed % 12 } else { 0 };
        let scenario = Scenario { pages_max: scenario.pages + more, ..scenario };
        all.add(bad_blocks(&scenario, left, unit_blocks).expect("a store that works"));
    }
    let BadBlocks { trials, openings, refused, lost_pages, .. } = all;
    println!(
        "{policy}, {left:?}, {unit_blocks} blocks: {trials} trials, {openings} openings, {refused} refused, {lost_pages} pages lost"
    );
    all
}

#[test]
fn a_closed_store_opens_with_any_bad_block_and_loses_only_pages_in_it() {
    for policy in PolicyKind::ALL {
        let all = try_all(policy, Left::Closed, 1, 1..=3);
        assert_eq!(all.violations, [], "{policy}");
        assert!(all.trials > 50 && all.refused == 0, "{policy}: {all:?}");
    }
}

#[test]
fn a_bad_block_after_a_power_cut_is_told_or_changes_nothing() {
    for policy in PolicyKind::ALL {
        let all = try_all(policy, Left::PowerCut, 1, 1..=3);
        assert_eq!(all.violations, [], "{policy}");
        assert!(all.refused < all.openings / 2, "{policy}: {all:?}");
    }
}

#[test]
fn a_closed_store_opens_with_any_bad_mapping_unit_and_loses_only_pages_in_it() {
    for policy in PolicyKind::ALL {
        let all = try_all(policy, Left::Closed, UNIT_BLOCKS, 1..=6);
        assert_eq!(all.violations, [], "{policy}");
        assert!(all.trials > 100 && all.refused == 0, "{policy}: {all:?}");
    }
}

#[test]
fn a_bad_mapping_unit_after_a_power_cut_is_told_or_changes_nothing() {
    for policy in PolicyKind::ALL {
        let all = try_all(policy, Left::PowerCut, UNIT_BLOCKS, 1..=6);
        assert_eq!(all.violations, [], "{policy}");
        assert!(all.refused < all.openings / 2, "{policy}: {all:?}");
    }
}
