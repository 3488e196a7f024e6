//! A store with older copies of its label or ledgers refuses to open, or holds its promised
//! contents.
#![allow(
    missing_docs,
    clippy::print_stdout,
    clippy::expect_used,
    reason = "tests, and helpers of tests are part of them"
)]

use nandle_crash::{Copies, Left, Rollbacks, Scenario, Used, roll_back};
use nandle_pages::PolicyKind;

fn try_all(
    policy: PolicyKind,
    left: Left,
    kinds: &[Copies],
    scenario: impl Fn(u64) -> Scenario,
) -> Rollbacks {
    let mut all = Rollbacks::default();
    for seed in 1..=12 {
        let Rollbacks { trials, refused, silent } =
            roll_back(&scenario(seed), left, kinds).expect("a store that works");
        all.trials += trials;
        all.refused += refused;
        all.silent.extend(silent);
    }
    println!("{policy}, {left:?}, {kinds:?}: {} trials, {} refused", all.trials, all.refused);
    all
}

/// A small store that grows by a few pages.
fn growing(seed: u64, policy: PolicyKind) -> Scenario {
    let small = Scenario { page_bytes: 4096, ..Scenario::with_policy(seed, policy) };
    Scenario { pages_max: small.pages + 1 + seed % 12, used: Used::All, steps: 2 * small.steps, ..small }
}

fn checking() -> impl Iterator<Item = PolicyKind> {
    PolicyKind::ALL.into_iter().filter(|policy| policy.promises().checks_pages)
}

#[test]
fn a_growth_is_never_rolled_back_silently() {
    for (policy, left) in
        PolicyKind::ALL.into_iter().flat_map(|policy| [(policy, Left::Closed), (policy, Left::PowerCut)])
    {
        let kinds = [Copies::Labels(8), Copies::LabelsAndLedgers];
        let all = try_all(policy, left, &kinds, |seed| growing(seed, policy));
        assert_eq!(all.silent, [], "{policy}, {left:?}");
        assert!(all.trials > 20 && all.refused > 10, "{policy}: {all:?}");
    }
}

#[test]
fn one_new_copy_of_the_label_is_enough() {
    for (policy, left) in
        PolicyKind::ALL.into_iter().flat_map(|policy| [(policy, Left::Closed), (policy, Left::PowerCut)])
    {
        let kinds = [Copies::Labels(1), Copies::Labels(4), Copies::Labels(7)];
        let all = try_all(policy, left, &kinds, |seed| growing(seed, policy));
        assert_eq!((all.silent, all.refused), (vec![], 0), "{policy}, {left:?}");
        assert!(all.trials > 20, "{policy}: {} trials", all.trials);
    }
}

/// Only the label then records the added zones.
#[test]
fn ledgers_from_before_a_growth_never_hide_commits() {
    let policy = PolicyKind::OutOfPlace;
    for left in [Left::Closed, Left::PowerCut] {
        let all = try_all(policy, left, &[Copies::Ledgers], |seed| growing(seed, policy));
        assert_eq!(all.silent, [], "{left:?}");
        assert!(all.trials > 20 && all.refused > 10, "{left:?}: {all:?}");
    }
}

#[test]
fn commits_are_never_rolled_back_silently_with_the_ledgers() {
    for (policy, left) in checking().flat_map(|policy| [(policy, Left::Closed), (policy, Left::PowerCut)]) {
        let all = try_all(policy, left, &[Copies::Ledgers], |seed| Scenario {
            page_bytes: 4096,
            ..Scenario::with_policy(seed, policy)
        });
        assert_eq!(all.silent, [], "{policy}, {left:?}");
        assert!(all.trials > 20 && all.refused > 10, "{policy}: {all:?}");
    }
}
