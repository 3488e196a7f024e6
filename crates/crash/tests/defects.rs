//! Every seeded defect is caught, and the store as it is isn't.
#![allow(missing_docs, reason = "tests")]

use nandle_crash::{Scenario, Trouble, Violation, explore};
use nandle_pages::{Defect, PolicyKind, seed_defect};

/// Histories in which a defect has the chance to show itself.
const HISTORIES: u64 = 400;

fn scenario(seed: u64, defect: Defect) -> Scenario {
    let policy = match seed % 3 {
        0 => PolicyKind::StableBuffer,
        1 => PolicyKind::StableRing,
        _ => PolicyKind::DoubleWrite,
    };
    let scenario = Scenario::with_policy(seed, policy);
    match defect {
        Defect::FailedFlushForgotten => {
            Scenario { trouble: Trouble::FailedFlush, is_mirrored: false, ..scenario }
        }
        // Only who opens the store again while the power is on meets what was never durable.
        Defect::TailTrusted => Scenario {
            trouble: Trouble::FailedFlush,
            is_mirrored: false,
            sessions: 3,
            steps: 2 * scenario.steps,
            ..scenario
        },
        _ => scenario,
    }
}

fn first_violation(defect: Defect) -> Option<Violation> {
    seed_defect(Some(defect));
    let found = (1..=HISTORIES).find_map(|seed| explore(&scenario(seed, defect)).violation);
    seed_defect(None);
    found
}

#[test]
fn every_seeded_defect_is_caught_and_the_clean_store_is_not() {
    let mut missed = Vec::new();
    for defect in Defect::ALL {
        match first_violation(defect) {
            None => missed.push(defect),
            Some(violation) => {
                println!("{defect:?}: history {}: {}", violation.seed, violation.what);
                let clean = explore(&scenario(violation.seed, defect));
                assert_eq!(clean.violation, None, "{defect:?} wasn't what was caught");
            }
        }
    }
    assert_eq!(missed, [], "not caught in {HISTORIES} histories");
}

/// A mirror whose legs are left as the power cut left them gives two answers.
#[test]
fn a_mirror_that_is_not_made_the_same_again_is_caught() {
    let mirror = |seed, resynchronises| Scenario {
        is_mirrored: true,
        resynchronises,
        page_bytes: 4096,
        buffer_bytes: 24 * 4096,
        ..Scenario::with_policy(seed, PolicyKind::Direct)
    };
    let wrong = (1..=HISTORIES).find(|seed| explore(&mirror(*seed, false)).violation.is_some());
    let wrong = wrong.expect("a history in which the legs answer differently");
    assert_eq!(explore(&mirror(wrong, true)).violation, None);
}
