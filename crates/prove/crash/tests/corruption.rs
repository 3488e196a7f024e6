//! A damaged block never gives wrong contents without an error if the policy checks pages.
#![allow(
    missing_docs,
    clippy::print_stdout,
    clippy::expect_used,
    reason = "tests, and helpers of tests are part of them"
)]

use nandle_crash::{Left, Scenario, Trials, corrupt};
use nandle_pages::PolicyKind;

/// Damages stores of all policies that check their pages; `direct` and `auto` don't.
fn damage_all(left: Left) {
    for policy in PolicyKind::ALL.into_iter().filter(|policy| policy.promises().checks_pages) {
        let mut all = Trials::default();
        for seed in 1..=5 {
            let scenario = Scenario { page_bytes: 4096, ..Scenario::with_policy(seed, policy) };
            let Trials { trials, refused, told, silent } =
                corrupt(&scenario, left).expect("a store that works");
            all.trials += trials;
            all.refused += refused;
            all.told += told;
            all.silent.extend(silent);
        }
        println!("{policy}: {} trials, {} refused, {} told", all.trials, all.refused, all.told);
        assert_eq!(all.silent, [], "{policy}");
        assert!(all.trials > 500, "{policy}: {}", all.trials);
        // A store that refuses every opening would also pass.
        assert!(all.refused < all.trials / 2, "{policy}: {} of {}", all.refused, all.trials);
    }
}

#[test]
fn one_damaged_block_of_a_closed_store_is_told_or_changes_nothing() {
    damage_all(Left::Closed);
}

#[test]
fn one_damaged_block_after_a_power_cut_is_told_or_changes_nothing() {
    damage_all(Left::PowerCut);
}
