use super::*;
use crate::Unobserved;
use crate::virtual_world::{FakeWorld, Fault, Servers, Timing};

const CAPACITY_BYTES: u64 = 100 << 20;
/// Device that serves one write at a time in 10 ms: 100 MiB/s.
fn device() -> FakeWorld {
    FakeWorld::new(CAPACITY_BYTES, Servers::new(1, |_| Nanos::from_millis(10)))
}

fn run(world: FakeWorld, bytes: u64, time_limit: Option<Nanos>) -> Result<FillReport, FillError> {
    let options = FillOptions { bytes, time_limit, contents: Contents::new(1) };
    fill(&mut world.lane(BUFFER_BYTES), options, &mut Unobserved, &Cancel::default())
}

#[test]
fn the_whole_is_written_in_order_and_flushed() {
    for slots in [1, 3, 256] {
        let mut world = device().slots(slots);
        let ledger = world.ledger();
        let filled = run(world, 20 << 20, None).unwrap();
        assert_eq!(filled, FillReport { bytes: 20 << 20, elapsed: Nanos::from_millis(210) }, "{slots} slots");
        let mut expected: Vec<u64> = (0..20).map(|chunk| chunk << 20).collect();
        expected.push(0); // The flush.
        assert_eq!(ledger.offsets(), expected, "{slots} slots");
        assert_eq!(ledger.asked_bytes(), 20 << 20);
    }
}

#[test]
fn no_more_than_the_device_has_is_written_and_only_whole_blocks() {
    assert_eq!(run(device(), u64::MAX, None).unwrap().bytes, CAPACITY_BYTES);
    assert_eq!(run(device(), (3 << 20) + 4096 + 511, None).unwrap().bytes, (3 << 20) + 4096);
    assert_eq!(run(device(), 511, None).unwrap().bytes, 0);
}

#[test]
fn an_area_that_is_no_multiple_of_a_write_is_written_to_its_end() {
    let bytes = (3 << 20) + 4096;
    let mut world = device();
    let ledger = world.ledger();
    assert_eq!(run(world, bytes, None).unwrap().bytes, bytes);
    assert_eq!(ledger.asked_bytes(), bytes);
}

#[test]
fn a_time_limit_gives_a_shorter_area_without_holes() {
    let mut world = device();
    let ledger = world.ledger();
    let filled = run(world, CAPACITY_BYTES, Some(Nanos::from_millis(200))).unwrap();
    // 20 writes were done by then; those in flight are waited for.
    assert_eq!(filled.bytes, 27 << 20);
    assert_eq!(ledger.asked_bytes(), filled.bytes);
    assert_eq!(filled.elapsed, Nanos::from_millis(280));
}

#[test]
fn a_failing_write_and_a_failing_flush_are_errors() {
    for failing in [5, 20] {
        let error =
            run(device().faults(move |number| number == failing, Fault::Fail), 20 << 20, None).unwrap_err();
        assert!(matches!(error, FillError::Write(_)), "{error}");
        assert!(error.to_string().contains("Input/output error"), "{error}");
    }
}

#[test]
fn stalls_and_interruptions_end_a_fill() {
    for (number, operation) in [(3, "a write at"), (20, "a flush at")] {
        let silent = device().faults(move |request| request == number, Fault::Silence);
        let error = run(silent, 20 << 20, None).unwrap_err();
        assert!(matches!(error, FillError::Load(LoadError::Stalled { outstanding: 1, .. })), "{error}");
        assert!(error.to_string().contains(operation), "{error}");
    }
    let cancel = Cancel::default();
    cancel.cancel();
    let options = FillOptions { bytes: CAPACITY_BYTES, time_limit: None, contents: Contents::new(1) };
    let mut lane = device().lane(BUFFER_BYTES);
    let error = fill(&mut lane, options, &mut Unobserved, &cancel).unwrap_err();
    assert!(matches!(error, FillError::Load(LoadError::Cancelled)), "{error}");
    assert_eq!(lane.io().in_flight(), 0);
}

/// Write-back cache: writes complete at once, and a flush takes 100 ms per MiB written since the
/// last flush.
#[derive(Default)]
struct WriteBack {
    dirty_bytes: u64,
}

impl Timing for WriteBack {
    fn done_at(&mut self, now: Nanos, operation: &Operation, _outstanding: usize) -> Nanos {
        if !matches!(operation, Operation::Flush) {
            self.dirty_bytes += operation.length_bytes();
            return now + Nanos(1000);
        }
        let dirty_mib = std::mem::take(&mut self.dirty_bytes) >> 20;
        now + Nanos::from_millis(100 * dirty_mib)
    }
}

#[test]
fn a_write_back_cache_is_not_a_stall() {
    // A single flush would be silent for 40 s, four times the lane's patience.
    let filled = run(FakeWorld::new(400 << 20, WriteBack::default()), 400 << 20, None).unwrap();
    assert_eq!(filled.bytes, 400 << 20);
}

#[test]
fn the_time_limit_holds_for_what_is_durable() {
    let limit = Nanos::from_secs(8);
    let world = FakeWorld::new(4 << 30, WriteBack::default());
    let filled = run(world, 4 << 30, Some(limit)).unwrap();
    assert!(filled.elapsed < Nanos::from_secs(10), "{:?}", filled.elapsed);
    assert!(filled.bytes < 100 << 20, "{}", filled.bytes);
}
