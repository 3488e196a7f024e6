//! Every seeded defect is caught, and the store as it is isn't.
#![allow(missing_docs, clippy::print_stdout, reason = "tests, and helpers of tests are part of them")]

use nandle_crash::{Scenario, Trouble, Violation, explore};
use nandle_pages::{Defect, PolicyKind, seed_defect};

/// Histories in which a defect has the chance to show itself.
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
        // Only who opens the store again while the power is on meets what was never durable.
        Defect::TailTrusted => Scenario {
            trouble: Trouble::FailedFlush,
            is_mirrored: false,
            sessions: 3,
            steps: 2 * scenario.steps,
            ..scenario
        },
        // Its way is changed again and again.
        Defect::HeldForgotten | Defect::DeadSlotsNotPersisted | Defect::StraightUnflushed => {
            Scenario { steps: 2 * scenario.steps, turn_pages: Some(1 + seed % 12), ..scenario }
        }
        Defect::GrowthUnflushed | Defect::LabelsTogether | Defect::ZonesTooEarly => {
            Scenario::growing(seed, policy)
        }
        Defect::SumsLogIgnored => Scenario::growing_life(seed, policy),
        // Several clients, and several rounds of reading.
        Defect::ManyOfSeveralStates => {
            Scenario { mixes_calls: true, clients: 3, steps: 24, is_mirrored: false, ..scenario }
        }
        // Where every zone counts.
        Defect::ReserveTooSmall => Scenario::crowded(seed),
        // What an opening leaves out shows itself to later ones.
        Defect::EpochIgnored => Scenario::whole_life(seed, policy),
        // Where little is free zones are given back all the time.
        Defect::DeadTooEarly | Defect::StaleMove | Defect::LiveZoneFreed
            if policy == PolicyKind::OutOfPlace =>
        {
            Scenario::whole_life(2 * seed + 1, policy)
        }
        // Enough for zones to be cleaned.
        Defect::DeadTooEarly => Scenario { steps: 3 * scenario.steps, ..scenario },
        _ => scenario,
    }
}

/// Looks for each of the defects, and makes sure that it is what was found.
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

/// A store in which cleaning can't go on can't be written any more.
#[test]
fn a_store_that_wedges_is_caught_and_the_clean_store_is_not() {
    catch_each(&[Defect::ReserveTooSmall], |_| PolicyKind::OutOfPlace);
}

/// What only reads of many pages beside batches can show.
#[test]
fn every_defect_of_reading_many_is_caught_and_the_clean_store_is_not() {
    catch_each(
        &Defect::OF_READ_MANY,
        |seed| if seed % 2 == 0 { PolicyKind::OutOfPlace } else { staging(seed) },
    );
}

/// What only a store that grows can show.
#[test]
fn every_defect_of_growth_is_caught_and_the_clean_store_is_not() {
    catch_each(&Defect::OF_GROWTH, growing);
}

/// What only zones that are added can show.
#[test]
fn every_defect_of_growing_zones_is_caught_and_the_clean_store_is_not() {
    catch_each(&Defect::OF_ZONE_GROWTH, |_| PolicyKind::OutOfPlace);
}

/// What a store with one chunk of checksums can't show.
#[test]
fn every_defect_of_several_chunks_is_caught_and_the_clean_store_is_not() {
    catch_each(&Defect::OF_CHUNKS, staging);
}

/// A harness of others missed this one in sixty histories: each few of ours catch it, whatever the policy.
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
