//! Stores that live through many power cuts in a row, most of them inside openings.
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
