//! Stores that survive many successive power cuts, most of them during openings.
#![allow(missing_docs, reason = "tests")]

use nandle_crash::{Scenario, Violation, explore};
use nandle_pages::PolicyKind;

fn violations(policy: PolicyKind, seeds: std::ops::Range<u64>) -> Vec<Violation> {
    seeds.filter_map(|seed| explore(&Scenario::whole_life(seed, policy)).violation).collect()
}

#[test]
fn out_of_place_stays_openable_and_never_wedges() {
    assert_eq!(violations(PolicyKind::OutOfPlace, 1..25), []);
}

/// `CROWDED=first..last` selects other histories.
#[test]
fn a_store_that_is_as_full_as_it_may_be_never_wedges() {
    let given = std::env::var("CROWDED").ok().and_then(|given| {
        let (first, last) = given.split_once("..")?;
        Some(first.parse().ok()?..last.parse().ok()?)
    });
    let wrong: Vec<_> = given
        .unwrap_or(1..13)
        .filter_map(|seed| explore(&Scenario::crowded(seed)).violation)
        .map(|violation| (violation.seed, violation.steps.len(), violation.what))
        .collect();
    assert_eq!(wrong, []);
}

#[test]
fn staging_policies_live_on() {
    for policy in [PolicyKind::DoubleWrite, PolicyKind::StableBuffer, PolicyKind::StableRing] {
        assert_eq!(violations(policy, 1..16), [], "{policy}");
    }
}

#[test]
fn policies_that_write_straight_home_live_on() {
    for policy in [PolicyKind::Direct, PolicyKind::Auto] {
        assert_eq!(violations(policy, 1..16), [], "{policy}");
    }
}
