use super::*;
use crate::virtual_world::{FakeWorld, Fault, Servers};

fn stream(rate_per_s: f64, operation: OperationKind, seed: u64) -> OpenStream {
    let (arrivals, time) = (Arrivals::Fixed, Nanos::from_millis(1000));
    let schedule = OpenLoop { rate_per_s, arrivals, queue_depth: 16, time, seed };
    OpenStream { schedule, work: work(PatternSpec::Random, operation, None, seed) }
}

fn readers_and_writers() -> Vec<OpenStream> {
    vec![stream(1000.0, OperationKind::Read, 1), stream(300.0, OperationKind::Write, 2)]
}

#[test]
fn each_stream_keeps_its_own_rate_and_latency() {
    // Two servers: at most one read and one write are outstanding, and each has a free server.
    let world = FakeWorld::new(CAPACITY_BYTES, Servers::new(2, even(200)));
    let mut lane = world.lane(32 << 20);
    let measured = run_streams(&mut lane, readers_and_writers(), &Cancel::default()).unwrap();
    let requests: Vec<u64> = measured.iter().map(|stream| stream.measurement.requests).collect();
    assert_eq!(requests, [999, 299]);
    for stream in &measured {
        assert_near(stream.measurement.latency_ns.mean(), 200_000.0, 1e-3, "latency");
        assert_eq!((stream.lag.unsent, stream.lag.lag_ns.max), (0, Some(0)));
    }
    assert_near(measured[0].measurement.mean_outstanding(), 0.2, 0.01, "rate × latency");
}

#[test]
fn one_stream_waits_for_the_other_where_the_device_has_one_server() {
    let world = FakeWorld::new(CAPACITY_BYTES, Servers::new(1, even(200)));
    let measured = run_streams(&mut world.lane(32 << 20), readers_and_writers(), &Cancel::default()).unwrap();
    // Every 100 ms brings 100 reads and 30 writes. Requests due at the same time wait for each
    // other.
    let reads = &measured[0].measurement.latency_ns;
    assert_near(reads.min() as f64, 200_000.0, 1e-3, "a read that met no other");
    assert!(reads.max() >= 399_000, "{}", reads.max());
}

#[test]
fn too_many_streams_are_refused() {
    let world = FakeWorld::new(CAPACITY_BYTES, Servers::new(1, even(1))).slots(31);
    let error =
        run_streams(&mut world.lane(32 << 20), readers_and_writers(), &Cancel::default()).unwrap_err();
    assert!(matches!(error, LoadError::TooDeep { queue_depth: 32, slots: 31 }), "{error}");
}

#[test]
fn a_stream_of_failures_is_an_error() {
    let world = FakeWorld::new(CAPACITY_BYTES, Servers::new(2, even(10))).faults(|_| true, Fault::Fail);
    let error =
        run_streams(&mut world.lane(32 << 20), readers_and_writers(), &Cancel::default()).unwrap_err();
    assert!(matches!(error, LoadError::AllFailed { requests: 999, .. }), "{error}");
}
