//! One damaged block of a closed store never gives wrong contents without an error.
#![allow(missing_docs, reason = "tests")]

use nandle_crash::{Scenario, Trials, corrupt};
use nandle_pages::PolicyKind;

/// Policies for which that is so.
const HELD: [PolicyKind; 1] = [PolicyKind::OutOfPlace];

#[test]
fn one_damaged_block_of_a_closed_store_is_told_or_changes_nothing() {
    for policy in HELD {
        let mut all = Trials::default();
        for seed in 1..=8 {
            let scenario = Scenario { page_bytes: 4096, ..Scenario::with_policy(seed, policy) };
            let Trials { trials, refused, told, silent } = corrupt(&scenario).expect("a store that works");
            all.trials += trials;
            all.refused += refused;
            all.told += told;
            all.silent.extend(silent);
        }
        println!("{policy}: {} trials, {} refused, {} told", all.trials, all.refused, all.told);
        assert_eq!(all.silent, [], "{policy}");
        assert!(all.trials > 1000, "{policy}: {}", all.trials);
        // Whoever refuses everything is never wrong either.
        assert!(all.refused < all.trials / 4, "{policy}: {} of {}", all.refused, all.trials);
    }
}
