use nandle_io::{Completion, Operation};

use super::*;
use crate::virtual_world::{FakeWorld, Fault, Servers};

fn reads_at(lane: &Lane, blocks: std::ops::Range<u64>) -> Vec<Operation> {
    let length = usize::try_from(BLOCK_BYTES).unwrap();
    let read = |block| Operation::read(block * BLOCK_BYTES, lane.arena().allocate(length).unwrap());
    blocks.map(read).collect()
}

#[test]
fn run_all_returns_exactly_the_submitted_operations() {
    let mut lane = FakeWorld::new(CAPACITY_BYTES, Servers::new(2, even(100))).lane(1 << 20);
    let mut done: Vec<Completion> = Vec::new();
    for _ in 0..2 {
        let began = lane.io().now();
        let operations = reads_at(&lane, 0..5);
        lane.run_all(operations, &mut done, &Cancel::default()).unwrap();
        assert_eq!(done.len(), 5);
        let mut tokens: Vec<u64> = done.iter().map(|completion| completion.token).collect();
        tokens.sort_unstable();
        assert_eq!(tokens, [0, 1, 2, 3, 4]);
        // Five operations on two servers take three rounds.
        assert_eq!(lane.io().now().since(began), Nanos::from_micros(300));
    }
}

#[test]
fn a_failed_operation_carries_its_error() {
    let world =
        FakeWorld::new(CAPACITY_BYTES, Servers::new(1, even(100))).faults(|number| number == 1, Fault::Fail);
    let (mut lane, mut done) = (world.lane(1 << 20), Vec::new());
    let operations = reads_at(&lane, 0..3);
    lane.run_all(operations, &mut done, &Cancel::default()).unwrap();
    assert_eq!(done.iter().filter(|completion| completion.result.is_err()).count(), 1);
}

#[test]
fn stalls_interruptions_and_too_many_requests_are_errors() {
    let world = FakeWorld::new(CAPACITY_BYTES, Servers::new(1, even(100)))
        .slots(4)
        .faults(|number| number == 2, Fault::Silence);
    let (mut lane, mut done) = (world.lane(1 << 20), Vec::new());
    let operations = reads_at(&lane, 0..5);
    let error = lane.run_all(operations, &mut done, &Cancel::default()).unwrap_err();
    assert!(matches!(error, LoadError::TooDeep { queue_depth: 5, slots: 4 }), "{error}");
    let cancel = Cancel::default();
    cancel.cancel();
    let operations = reads_at(&lane, 0..2);
    let error = lane.run_all(operations, &mut done, &cancel).unwrap_err();
    assert!(matches!(error, LoadError::Cancelled) && done.len() == 2, "{error}");
    let operations = reads_at(&lane, 0..1);
    let error = lane.run_all(operations, &mut done, &Cancel::default()).unwrap_err();
    assert!(matches!(error, LoadError::Stalled { outstanding: 1, .. }), "{error}");
}
