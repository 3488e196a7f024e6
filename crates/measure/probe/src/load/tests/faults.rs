use nandle_io::{Device, Io};

use super::*;
use crate::virtual_world::{FakeWorld, Fault, Servers};

fn device(faults: impl Fn(u64) -> bool + 'static, fault: Fault) -> FakeWorld {
    FakeWorld::new(CAPACITY_BYTES, Servers::new(4, uneven(100))).faults(faults, fault)
}

#[test]
fn failures_are_counted_and_do_not_end_the_run() {
    let mut lane = device(|number| [3, 50, 999].contains(&number), Fault::Fail).lane(1 << 20);
    let run = whole(16, Stop::after_bytes(1000 * BLOCK_BYTES));
    let measured = run.run(&mut lane, reads(1), &Cancel::default()).unwrap();
    assert_eq!((measured.requests, measured.failed, measured.damaged), (997, 3, 0));
    assert_eq!(measured.bytes, 997 * BLOCK_BYTES);
    let first = measured.first_error.unwrap();
    assert!(
        first.contains("read of 4096 bytes at offset") && first.contains("Input/output error"),
        "{first}"
    );
}

#[test]
fn wrong_contents_are_counted_and_reported() {
    let contents = Contents::new(9);
    let mut lane = device(|number| [0, 77].contains(&number), Fault::Damage).contents(contents).lane(1 << 20);
    let work = work(PatternSpec::Random, OperationKind::Read, Some(contents), 1);
    let run = whole(16, Stop::after_bytes(500 * BLOCK_BYTES));
    let measured = run.run(&mut lane, work, &Cancel::default()).unwrap();
    assert_eq!((measured.requests, measured.failed, measured.damaged), (498, 0, 2));
    assert!(measured.first_error.unwrap().contains("the contents are not what was written there"));
}

#[test]
fn buffers_are_recycled_after_failures() {
    // Memory for exactly the queue depth: a lost buffer would make a later run fail.
    let mut lane = device(|number| number % 3 == 0, Fault::Fail).lane(16 * BLOCK_BYTES);
    for _ in 0..4 {
        let run = whole(16, Stop::after_bytes(1000 * BLOCK_BYTES));
        let measured = run.run(&mut lane, reads(1), &Cancel::default()).unwrap();
        assert_eq!(measured.requests + measured.failed, 1000);
    }
}

#[test]
fn a_run_in_which_all_failed_is_an_error() {
    for counting in [Counting::Whole, Counting::Window { warm_up_requests: 8 }] {
        let mut lane = device(|_| true, Fault::Fail).lane(1 << 20);
        let run = closed(8, Refill::Exact, counting, Stop::after(Nanos::from_millis(10)));
        let error = run.run(&mut lane, reads(1), &Cancel::default()).unwrap_err();
        assert!(matches!(error, LoadError::AllFailed { requests: 300.., .. }), "{counting:?}: {error}");
        assert!(error.to_string().contains("Input/output error"), "{error}");
    }
}

#[test]
fn one_slow_failure_in_a_window_is_counted_and_does_not_mean_that_all_failed() {
    // An unreadable block: the drive retries for seconds, longer than the window.
    let slow = |number: u64| if number == 2 { Nanos::from_secs(5) } else { Nanos::from_millis(1) };
    let device = FakeWorld::new(CAPACITY_BYTES, Servers::new(1, slow));
    let mut lane = device.faults(|number| number == 2, Fault::Fail).lane(1 << 20);
    let window = Counting::Window { warm_up_requests: 1 };
    let run = closed(1, Refill::Exact, window, Stop::after(Nanos::from_millis(100)));
    let measured = run.run(&mut lane, reads(1), &Cancel::default()).unwrap();
    assert_eq!((measured.requests, measured.failed, measured.elapsed), (0, 1, Nanos::from_secs(5)));
}

#[test]
fn time_spent_on_failures_counts() {
    // Requests take 1 ms each, one at a time; the last two fail.
    let device = FakeWorld::new(CAPACITY_BYTES, Servers::new(1, even(1000)));
    let mut lane = device.faults(|number| number >= 8, Fault::Fail).lane(1 << 20);
    let run = whole(1, Stop::after_bytes(10 * BLOCK_BYTES));
    let measured = run.run(&mut lane, reads(1), &Cancel::default()).unwrap();
    assert_eq!((measured.requests, measured.elapsed), (8, Nanos::from_millis(10)));
}

#[test]
fn a_device_that_stops_answering_is_given_up_and_its_oldest_request_named() {
    let mut world = device(|number| number >= 500, Fault::Silence);
    let ledger = world.ledger();
    let error = whole(16, Stop::after(Nanos::from_secs(60))).run(
        &mut world.lane(1 << 20),
        reads(1),
        &Cancel::default(),
    );
    let error = error.unwrap_err();
    let LoadError::Stalled { silent, outstanding, operation, offset_bytes, age } = error else {
        panic!("{error}");
    };
    assert_eq!((outstanding, operation), (16, "read"));
    assert!(silent >= Nanos::from_secs(10) && silent <= Nanos::from_millis(10_400), "{silent}");
    assert_eq!(offset_bytes, ledger.offsets()[500], "the oldest stalled request");
    let now = ledger.submitted_at()[515] + silent;
    assert!(age >= silent && age <= now.since(ledger.submitted_at()[500]), "{age}, silent {silent}");
}

#[test]
fn one_lost_request_among_many_is_a_stall_when_nothing_else_is_left() {
    let mut lane = device(|number| number == 10, Fault::Silence).lane(1 << 20);
    let run = whole(4, Stop::after(Nanos::from_secs(1)));
    let error = run.run(&mut lane, reads(1), &Cancel::default()).unwrap_err();
    assert!(matches!(error, LoadError::Stalled { outstanding: 1, .. }), "{error}");
    let LoadError::Stalled { age, .. } = error else { unreachable!() };
    assert!(age >= Nanos::from_millis(10_990) && age <= Nanos::from_millis(11_400), "{age}");
}

#[test]
fn an_interruption_ends_the_run() {
    let cancel = Cancel::default();
    cancel.cancel();
    let mut lane = device(|_| false, Fault::Fail).lane(1 << 20);
    let error = whole(4, Stop::after(Nanos::from_secs(9))).run(&mut lane, reads(1), &cancel).unwrap_err();
    assert!(matches!(error, LoadError::Cancelled), "{error}");
    assert_eq!(lane.io().in_flight(), 0);
    assert!(lane.io().now() < Nanos::from_millis(2));
}

#[test]
fn a_queue_that_is_too_deep_is_refused() {
    let mut lane = device(|_| false, Fault::Fail).slots(8).lane(1 << 20);
    let stop = Stop::after_bytes(100 * BLOCK_BYTES);
    assert!(whole(8, stop).run(&mut lane, reads(1), &Cancel::default()).is_ok());
    let error = whole(9, stop).run(&mut lane, reads(1), &Cancel::default()).unwrap_err();
    assert!(matches!(error, LoadError::TooDeep { queue_depth: 9, slots: 8 }), "{error}");
}

#[test]
fn unsupported_block_sizes_are_refused() {
    let refused = |block_bytes, expected: &str| {
        let mut lane = device(|_| false, Fault::Fail).lane(64 << 20);
        let work = Work { block_bytes, ..reads(1) };
        let error = whole(1, Stop::after_bytes(1)).run(&mut lane, work, &Cancel::default()).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    };
    refused(0, "at least one byte");
    refused(1000, "multiples of 512 bytes");
    refused(32 << 20, "at most 16777216 bytes");
}

#[test]
fn memory_that_is_too_small_is_an_error() {
    let mut lane = device(|_| false, Fault::Fail).lane(7 * BLOCK_BYTES);
    let error = whole(8, Stop::after_bytes(1)).run(&mut lane, reads(1), &Cancel::default()).unwrap_err();
    assert!(matches!(error, LoadError::Memory { queue_depth: 8, block_bytes: 4096, .. }), "{error}");
}

#[test]
fn a_thread_that_cannot_open_the_device_is_an_error_and_no_deadlock() {
    let open = |_: u32| -> Result<(Box<dyn Io>, Device), String> { Err("no such device".into()) };
    let options = LaneOptions { buffer_bytes: 4096, read_pool_bytes: 0, patience: Nanos::from_secs(1) };
    let run = |_: u32, _: &mut Lane| Ok(Measurement::new());
    let error = run_on_threads(&open, 3, 1, options, &run, &|_| ()).unwrap_err();
    assert!(error.to_string().contains("no such device"), "{error}");
}

#[test]
fn a_thread_reports_a_stall_before_it_ends() {
    let open = |_: u32| {
        let world = device(|number| number == 10, Fault::Silence);
        let known = world.devices()[0].clone();
        Ok::<(Box<dyn Io>, Device), String>((Box::new(world), known))
    };
    let options = LaneOptions { buffer_bytes: 1 << 20, read_pool_bytes: 0, patience: Nanos::from_secs(1) };
    let told = std::sync::atomic::AtomicU32::new(0);
    let ended = std::sync::atomic::AtomicU32::new(0);
    let run = |_: u32, lane: &mut Lane| {
        let result = whole(4, Stop::after(Nanos::from_secs(1))).run(lane, reads(1), &Cancel::default());
        ended.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        result
    };
    let stalled = |error: &LoadError| {
        assert!(matches!(error, LoadError::Stalled { outstanding: 1, .. }), "{error}");
        told.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
    };
    let error = run_on_threads(&open, 2, 4, options, &run, &stalled).unwrap_err();
    assert!(matches!(error, LoadError::Stalled { .. }), "{error}");
    assert_eq!((told.into_inner(), ended.into_inner()), (2, 2));
}

#[test]
fn a_lane_that_was_given_up_takes_no_further_run() {
    let mut lane = device(|number| number == 10, Fault::Silence).lane(4 << 20);
    let run = whole(4, Stop::after(Nanos::from_secs(1)));
    let stalled = run.run(&mut lane, reads(1), &Cancel::default()).unwrap_err();
    assert!(matches!(stalled, LoadError::Stalled { .. }), "{stalled}");
    let again = run.run(&mut lane, reads(1), &Cancel::default()).unwrap_err();
    assert!(matches!(again, LoadError::Abandoned { outstanding: 1 }), "{again}");
}
