//! Coverage of flushes and durable writes, on honest, protected and lying devices.

use std::collections::BTreeSet;

use nandle_io::{Durability, Operation};
use nandle_model::media::{
    AfterDiscard, CrashImages, Fault, FaultPlan, PowerCut, When, WriteCache, faults::Lasts,
};

use crate::common::{BLOCK_BYTES, Held, Rig, held};

fn rig(cache: WriteCache, plan: FaultPlan) -> Rig {
    let mut rig = Rig::of_blocks(8);
    rig.media = rig.media.with_cache(cache).with_faults(plan).recorded();
    rig
}

/// Possible contents of a block after a power cut now.
fn after_a_cut(rig: &Rig, block: u64) -> BTreeSet<Held> {
    let power = PowerCut { choices: 300, ..PowerCut::seeded(1) };
    let now = rig.media.position();
    let images = CrashImages::new(&[rig.media.recording().unwrap()], power).within(now..now + 1);
    images.map(|image| held(&image.contents[0], block)).collect()
}

fn numbers(numbers: &[u64]) -> BTreeSet<Held> {
    numbers.iter().map(|number| Held::Number(*number)).collect()
}

#[test]
fn a_flush_covers_what_had_completed_before_it_began() {
    let mut rig = rig(WriteCache::Volatile, FaultPlan::none());
    rig.put(0, 1).unwrap();
    let mut in_flight = rig.write(1, &[2], Durability::Volatile);
    let late = rig.begin(&in_flight);
    let flush = rig.begin(&Operation::Flush);
    rig.put(2, 3).unwrap();
    assert!(rig.media.complete(late, &mut in_flight).result.is_ok());
    assert_eq!(after_a_cut(&rig, 0), numbers(&[0, 1]), "not yet acknowledged");
    assert!(rig.media.complete(flush, &mut Operation::Flush).result.is_ok());
    assert_eq!(after_a_cut(&rig, 0), numbers(&[1]));
    assert_eq!(after_a_cut(&rig, 1), numbers(&[0, 2]));
    assert_eq!(after_a_cut(&rig, 2), numbers(&[0, 3]));
}

#[test]
fn a_durable_write_covers_itself_alone() {
    let mut rig = rig(WriteCache::Volatile, FaultPlan::none());
    rig.put(0, 1).unwrap();
    let durable = rig.write(1, &[2], Durability::Durable);
    assert!(rig.run(durable).result.is_ok());
    assert_eq!(after_a_cut(&rig, 0), numbers(&[0, 1]));
    assert_eq!(after_a_cut(&rig, 1), numbers(&[2]));
}

#[test]
fn a_durable_write_that_fails_covers_nothing() {
    let failed = Fault::FailedWrite(Lasts::Once);
    let mut rig = rig(WriteCache::Volatile, FaultPlan::none().and(failed, When::Operation(0)));
    let durable = rig.write(0, &[1; 8], Durability::Durable);
    assert!(rig.run(durable).result.is_err());
    for block in 0..8 {
        let Held::Number(now) = rig.held(block) else { panic!("torn") };
        assert_eq!(after_a_cut(&rig, block), numbers(&[0, now]));
    }
}

#[test]
fn a_protected_cache_covers_what_completes() {
    let mut rig = rig(WriteCache::Protected, FaultPlan::none());
    rig.put(0, 1).unwrap();
    let in_flight = rig.write(0, &[2], Durability::Volatile);
    let _ = rig.begin(&in_flight);
    assert_eq!(after_a_cut(&rig, 0), numbers(&[1, 2]));
}

#[test]
fn a_lying_device_holds_back_the_last_writes() {
    let mut rig = rig(WriteCache::Lying { held_bytes: 2 * BLOCK_BYTES as u64 + 1 }, FaultPlan::none());
    for block in 0..3 {
        let durable = rig.write(block, &[1], Durability::Durable);
        assert!(rig.run(durable).result.is_ok());
    }
    rig.flush().unwrap();
    let held: Vec<_> = (0..3).map(|block| after_a_cut(&rig, block)).collect();
    assert_eq!(held, [numbers(&[1]), numbers(&[0, 1]), numbers(&[0, 1])]);
}

#[test]
fn nothing_covers_what_a_failed_flush_should_have() {
    let failed = Fault::FailedFlush(Lasts::Once);
    let mut rig = rig(WriteCache::Volatile, FaultPlan::none().and(failed, When::Operation(1)));
    rig.put(0, 1).unwrap();
    rig.flush().unwrap_err();
    rig.flush().unwrap();
    assert_eq!(rig.held(0), Held::Number(1));
    assert_eq!(after_a_cut(&rig, 0), numbers(&[0, 1]));
    rig.put(0, 2).unwrap();
    assert_eq!(after_a_cut(&rig, 0), numbers(&[0, 1, 2]));
    rig.flush().unwrap();
    assert_eq!(after_a_cut(&rig, 0), numbers(&[2]));
}

#[test]
fn a_discard_is_undone_until_it_is_flushed() {
    for after_discard in [AfterDiscard::Zeros, AfterDiscard::Garbage] {
        let mut rig = Rig::of_blocks(8);
        rig.put(0, 1).unwrap();
        rig.media = rig.media.with_discards(after_discard).recorded();
        rig.discard(0, 8).unwrap();
        let discarded = rig.held(0);
        assert_eq!(discarded == Held::Number(0), after_discard == AfterDiscard::Zeros);
        assert_eq!(after_a_cut(&rig, 0), BTreeSet::from([Held::Number(1), discarded.clone()]));
        rig.flush().unwrap();
        assert_eq!(after_a_cut(&rig, 0), BTreeSet::from([discarded]));
        assert_eq!(rig.held(1), Held::Number(0), "what was never written isn't touched");
    }
}
