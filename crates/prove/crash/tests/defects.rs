//! Every seeded defect is caught, and the store without defects passes.
#![allow(missing_docs, clippy::print_stdout, reason = "tests, and helpers of tests are part of them")]

use nandle_crash::{Scenario, Trouble, Violation, explore};
use nandle_pages::{Defect, PolicyKind, seed_defect};

/// Maximum number of histories to catch a defect.
const HISTORIES: u64 = 400;

/// A policy with a staging area.
fn staging(seed: u64) -> PolicyKind {
    match seed % 3 {
        0 => PolicyKind::StableBuffer,
        1 => PolicyKind::StableRing,
        _ => PolicyKind::DoubleWrite,
    }
}

/// Any policy.
fn growing(seed: u64) -> PolicyKind {
    match seed % 6 {
        0 => PolicyKind::Direct,
        1 => PolicyKind::Auto,
        2 => PolicyKind::OutOfPlace,
        seed => staging(seed),
    }
}

fn scenario(seed: u64, policy: PolicyKind, defect: Defect) -> Scenario {
    let scenario = Scenario::with_policy(seed, policy);
    match defect {
        Defect::FailedFlushForgotten => {
            Scenario { trouble: Trouble::FailedFlush, is_mirrored: false, ..scenario }
        }
        // Pages that never became durable matter only if the store is opened again without a power
        // cut.
        Defect::TailTrusted => Scenario {
            trouble: Trouble::FailedFlush,
            is_mirrored: false,
            sessions: 3,
            steps: 2 * scenario.steps,
            ..scenario
        },
        // The policy must switch many times.
        Defect::HeldForgotten | Defect::DeadSlotsNotPersisted | Defect::StraightUnflushed => {
            Scenario { steps: 2 * scenario.steps, turn_pages: Some(1 + seed % 12), ..scenario }
        }
        Defect::GrowthUnflushed | Defect::LabelsTogether | Defect::ZonesTooEarly => {
            Scenario::growing(seed, policy)
        }
        Defect::SumsLogIgnored => Scenario::growing_life(seed, policy),
        // Needs several clients and several rounds of reading.
        Defect::ManyOfSeveralStates => {
            Scenario { mixes_calls: true, clients: 3, steps: 24, is_mirrored: false, ..scenario }
        }
        // Needs a store in which every zone counts.
        Defect::ReserveTooSmall => Scenario::crowded(seed),
        // Omissions of an opening show in later openings.
        Defect::EpochIgnored => Scenario::whole_life(seed, policy),
        // With little free space, zones are freed all the time.
        Defect::DeadTooEarly | Defect::StaleMove | Defect::LiveZoneFreed
            if policy == PolicyKind::OutOfPlace =>
        {
            Scenario::whole_life(2 * seed + 1, policy)
        }
        // Enough writes to clean zones.
        Defect::DeadTooEarly => Scenario { steps: 3 * scenario.steps, ..scenario },
        _ => scenario,
    }
}

/// Runs histories until each defect is caught, and checks that the same history passes without it.
fn catch_each(defects: &[Defect], policy: fn(u64) -> PolicyKind) {
    let mut missed = Vec::new();
    for &defect in defects {
        seed_defect(Some(defect));
        let of = |seed| scenario(seed, policy(seed), defect);
        let found: Option<Violation> = (1..=HISTORIES).find_map(|seed| explore(&of(seed)).violation);
        seed_defect(None);
        match found {
            None => missed.push(defect),
            Some(violation) => {
                println!("{defect:?}: history {}: {}", violation.seed, violation.what);
                let clean = explore(&of(violation.seed));
                assert_eq!(clean.violation, None, "{defect:?} wasn't what was caught");
            }
        }
    }
    assert_eq!(missed, [], "not caught in {HISTORIES} histories");
}

#[test]
fn every_defect_of_the_staging_policies_is_caught_and_the_clean_store_is_not() {
    catch_each(&Defect::OF_STAGING, staging);
}

#[test]
fn every_defect_of_auto_is_caught_and_the_clean_store_is_not() {
    catch_each(&Defect::OF_AUTO, |_| PolicyKind::Auto);
}

#[test]
fn every_defect_of_out_of_place_is_caught_and_the_clean_store_is_not() {
    catch_each(&Defect::OF_OUT_OF_PLACE, |_| PolicyKind::OutOfPlace);
}

/// A store that can't clean refuses writes.
#[test]
fn a_store_that_wedges_is_caught_and_the_clean_store_is_not() {
    catch_each(&[Defect::ReserveTooSmall], |_| PolicyKind::OutOfPlace);
}

/// Only reads of many pages concurrent with batches reveal these.
#[test]
fn every_defect_of_reading_many_is_caught_and_the_clean_store_is_not() {
    catch_each(
        &Defect::OF_READ_MANY,
        |seed| if seed % 2 == 0 { PolicyKind::OutOfPlace } else { staging(seed) },
    );
}

/// Only a growing store reveals these.
#[test]
fn every_defect_of_growth_is_caught_and_the_clean_store_is_not() {
    catch_each(&Defect::OF_GROWTH, growing);
}

/// Only added zones reveal these.
#[test]
fn every_defect_of_growing_zones_is_caught_and_the_clean_store_is_not() {
    catch_each(&Defect::OF_ZONE_GROWTH, |_| PolicyKind::OutOfPlace);
}

/// Only several chunks of checksums reveal these.
#[test]
fn every_defect_of_several_chunks_is_caught_and_the_clean_store_is_not() {
    catch_each(&Defect::OF_CHUNKS, staging);
}

/// An external harness missed this defect in sixty histories. A few histories of each policy must
/// catch it.
#[test]
fn what_an_earlier_opening_cut_off_is_caught_again_and_again() {
    use PolicyKind::{DoubleWrite, OutOfPlace, StableBuffer, StableRing};
    let mut missed = Vec::new();
    for policy in [DoubleWrite, StableBuffer, StableRing, OutOfPlace] {
        seed_defect(Some(Defect::EpochIgnored));
        let is_caught = |seed: &u64| explore(&Scenario::whole_life(*seed, policy)).violation.is_some();
        let caught = (1..=90).filter(is_caught).count();
        seed_defect(None);
        println!("{policy}: caught by {caught} of 90 histories");
        if caught < 3 {
            missed.push(policy);
        }
    }
    assert_eq!(missed, [], "caught by fewer than 3 of 90 histories");
}

/// A mirror that isn't resynchronised after a power cut reads differently from each leg.
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
