use super::*;
use crate::virtual_world::{FakeWorld, Fault, Servers};

fn open(rate_per_s: f64, arrivals: Arrivals, queue_depth: u32, millis: u64) -> OpenLoop {
    OpenLoop { rate_per_s, arrivals, queue_depth, time: Nanos::from_millis(millis), seed: 5 }
}

fn run(open: &OpenLoop, world: FakeWorld) -> (Measurement, ScheduleLag) {
    open.run(&mut world.lane(1 << 20), reads(1), &Cancel::default()).unwrap()
}

#[test]
fn a_device_that_keeps_up_shows_its_service_time_and_no_lag() {
    let world = FakeWorld::new(CAPACITY_BYTES, Servers::new(1, even(400)));
    let (measured, lag) = run(&open(1000.0, Arrivals::Fixed, 64, 1000), world);
    // Arrivals at 1 ms, 2 ms … 999 ms; 1000 ms is after the end.
    assert_eq!((measured.requests, lag.unsent), (999, 0));
    assert_near(measured.latency_ns.mean(), 400_000.0, 1e-3, "mean latency");
    assert_eq!(lag.lag_ns.max, Some(0));
    assert_near(measured.mean_outstanding(), 0.4, 0.01, "Little's law: rate × latency");
}

#[test]
fn latency_counts_from_the_schedule_when_the_device_falls_behind() {
    // Arrival i is due at i × 1 ms and done at 1 ms + i × 1.5 ms, so each waits 0.5 ms longer than
    // the previous one.
    let world = FakeWorld::new(CAPACITY_BYTES, Servers::new(1, even(1500)));
    let (measured, lag) = run(&open(1000.0, Arrivals::Fixed, 1, 300), world);
    assert_eq!(measured.requests, 200);
    assert_eq!(lag.unsent, 99);
    let latency_ms = |number: f64| 1.0 + number * 0.5;
    assert_near(measured.latency_ns.max() as f64, latency_ms(200.0) * 1e6, 1e-3, "the last");
    assert_near(measured.latency_ns.mean(), latency_ms(100.5) * 1e6, 1e-3, "the mean");
    let lag_max = (latency_ms(200.0) - 1.5) * 1e6;
    assert_near(lag.lag_ns.max.unwrap() as f64, lag_max, 1e-3, "the last was sent so late");
}

#[test]
fn depth_bounds_outstanding_requests_and_hides_no_wait() {
    // With a deep queue on the same device, requests wait in the device; the latencies are equal.
    let deep = FakeWorld::new(CAPACITY_BYTES, Servers::new(1, even(1500)));
    let (deep, lag) = run(&open(1000.0, Arrivals::Fixed, 256, 300), deep);
    assert_eq!((deep.requests, lag.unsent, lag.lag_ns.max), (299, 0, Some(0)));
    assert_near(deep.latency_ns.max() as f64, (1.0 + 299.0 * 0.5) * 1e6, 1e-3, "the last");
}

#[test]
fn the_mean_outstanding_is_what_the_world_integrates() {
    for (rate, servers) in [(100.0, 1), (3000.0, 1), (9000.0, 4)] {
        let mut world = FakeWorld::new(CAPACITY_BYTES, Servers::new(servers, uneven(400)));
        let ledger = world.ledger();
        let (measured, _) = run(&open(rate, Arrivals::Poisson, 64, 500), world);
        let expected = ledger.area_ns() / measured.elapsed.0 as f64;
        assert_near(measured.mean_outstanding(), expected, 1e-9, &format!("{rate} per second"));
    }
}

#[test]
fn poisson_arrivals_are_exponentially_apart() {
    let arrivals = |seed| {
        let mut world = FakeWorld::new(CAPACITY_BYTES, Servers::new(64, even(10)));
        let ledger = world.ledger();
        let open = OpenLoop { seed, ..open(10_000.0, Arrivals::Poisson, 64, 2000) };
        run(&open, world);
        ledger.submitted_at()
    };
    let times = arrivals(1);
    let gaps: Vec<f64> = times.windows(2).map(|pair| (pair[1] - pair[0]).0 as f64).collect();
    let count = gaps.len() as f64;
    let mean = gaps.iter().sum::<f64>() / count;
    let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / count;
    assert_near(mean, 100_000.0, 0.03, "mean distance");
    assert_near(variance.sqrt(), 100_000.0, 0.05, "standard deviation equals the mean");
    let beyond = |share: f64| gaps.iter().filter(|gap| **gap > share * mean).count() as f64 / count;
    for share in [0.5, 1.0, 2.0, 3.0] {
        assert!((beyond(share) - (-share).exp()).abs() < 0.015, "{share}: {}", beyond(share));
    }
    assert_eq!(times, arrivals(1));
    assert_ne!(times, arrivals(2));
}

#[test]
fn fixed_arrivals_are_equally_apart_without_rounding_up() {
    let mut world = FakeWorld::new(CAPACITY_BYTES, Servers::new(64, even(10)));
    let ledger = world.ledger();
    run(&open(3000.0, Arrivals::Fixed, 64, 1000), world);
    let times = ledger.submitted_at();
    assert_eq!(times.len(), 2999);
    for (index, time) in (1..).zip(&times) {
        assert!(time.0.abs_diff(index * 1_000_000_000 / 3000) <= 1, "arrival {index} at {time}");
    }
}

#[test]
fn a_rate_far_beyond_the_device_ends_in_time_and_counts_what_was_not_sent() {
    let world = FakeWorld::new(CAPACITY_BYTES, Servers::new(1, even(1000)));
    let began = std::time::Instant::now();
    let (measured, lag) = run(&open(1e9, Arrivals::Fixed, 4, 1000), world);
    assert!(began.elapsed().as_secs() < 2, "{:?}", began.elapsed());
    let sum = (measured.requests + lag.unsent) as f64;
    assert_near(sum, 1e9, 1e-6, "arrivals in a second");
}

#[test]
fn requests_far_apart_are_no_stall() {
    // One request in 30 s, each done within 2 s. The device isn't silent in between.
    let world = FakeWorld::new(CAPACITY_BYTES, Servers::new(1, even(2_000_000)));
    let (measured, _) = run(&open(1.0 / 30.0, Arrivals::Fixed, 4, 200_000), world);
    assert_eq!(measured.requests, 6);
}

#[test]
fn a_silent_device_is_given_up() {
    let world = FakeWorld::new(CAPACITY_BYTES, Servers::new(1, even(100)))
        .faults(|number| number >= 20, Fault::Silence);
    let open = open(100.0, Arrivals::Fixed, 4, 60_000);
    let error = open.run(&mut world.lane(1 << 20), reads(1), &Cancel::default()).unwrap_err();
    let LoadError::Stalled { outstanding: 4, silent, age, .. } = error else { panic!("{error}") };
    assert!(silent >= Nanos::from_secs(10) && age >= Nanos::from_secs(10), "{silent} {age}");
    assert!(age <= Nanos::from_secs(11), "{age}");
}

#[test]
fn failures_and_damage_are_counted_and_all_of_them_are_an_error() {
    let world = FakeWorld::new(CAPACITY_BYTES, Servers::new(1, even(100)))
        .faults(|number| [0, 5].contains(&number), Fault::Fail);
    let (measured, _) = run(&open(100.0, Arrivals::Fixed, 4, 1000), world);
    assert_eq!((measured.requests, measured.failed), (97, 2));
    let world = FakeWorld::new(CAPACITY_BYTES, Servers::new(1, even(100))).faults(|_| true, Fault::Fail);
    let open = open(100.0, Arrivals::Fixed, 4, 1000);
    let error = open.run(&mut world.lane(1 << 20), reads(1), &Cancel::default()).unwrap_err();
    assert!(matches!(error, LoadError::AllFailed { requests: 99, .. }), "{error}");
}

#[test]
fn an_interruption_ends_the_run() {
    let cancel = Cancel::default();
    cancel.cancel();
    let mut lane = FakeWorld::new(CAPACITY_BYTES, Servers::new(1, even(100))).lane(1 << 20);
    let error = open(100.0, Arrivals::Fixed, 4, 9000).run(&mut lane, reads(1), &cancel).unwrap_err();
    assert!(matches!(error, LoadError::Cancelled), "{error}");
}
