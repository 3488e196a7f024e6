use nandle_profile::SecondSample;

use super::*;

fn of(requests: u64, elapsed_ms: u64, cpu_ms: u64) -> Measurement {
    let mut measurement = Measurement::new();
    for number in 0..requests {
        let at = Nanos(number * MICRO);
        measurement.count(Nanos::ZERO, Nanos::ZERO, at, BLOCK_BYTES);
    }
    measurement.elapsed = Nanos::from_millis(elapsed_ms);
    measurement.cpu = Nanos::from_millis(cpu_ms);
    measurement.cpu_requests = requests;
    measurement.outstanding_ns = 2.0 * measurement.elapsed.0 as f64;
    measurement
}

#[test]
fn threads_side_by_side_add_their_rates_and_share_the_processor_time() {
    let mut sum = Measurement::new();
    sum.merge(&of(1000, 500, 80));
    sum.merge(&of(3000, 400, 100));
    assert_eq!(
        (sum.requests, sum.elapsed, sum.cpu),
        (4000, Nanos::from_millis(500), Nanos::from_millis(100))
    );
    assert_near(sum.iops(), 8000.0, 1e-12, "requests per second");
    assert_near(sum.cpu_ns_per_request(), 25_000.0, 1e-12, "processor time is the process's, counted once");
    assert_near(sum.mean_outstanding(), 2.0 + 2.0 * 0.8, 1e-12, "outstanding in both");
    assert_eq!(sum.latency_ns.len(), 4000);
    assert_eq!(sum.seconds, [SecondSample { requests: 4000, bytes: 4000 * 4096, latency_ns_max: 2_999_000 }]);
}

#[test]
fn slices_one_after_the_other_add_their_times() {
    let mut sum = Measurement::new();
    sum.extend(&of(1000, 500, 80));
    sum.extend(&of(3000, 500, 120));
    assert_eq!((sum.requests, sum.elapsed, sum.cpu), (4000, Nanos::from_secs(1), Nanos::from_millis(200)));
    assert_near(sum.iops(), 4000.0, 1e-12, "requests per second");
    assert_near(sum.cpu_ns_per_request(), 50_000.0, 1e-12, "processor time for a request");
    assert_near(sum.mean_outstanding(), 2.0, 1e-12, "outstanding in each");
    assert_eq!(sum.seconds.len(), 2);
}

#[test]
fn no_measurements_give_zeros_and_no_quantiles() {
    let nothing = Measurement::new();
    assert_eq!((nothing.iops(), nothing.bandwidth_bytes_per_s()), (0.0, 0.0));
    assert_eq!((nothing.mean_outstanding(), nothing.cpu_ns_per_request()), (0.0, 0.0));
    assert_eq!(nothing.latency_ns.summary(), nandle_profile::LatencySummary::default());
}

#[test]
fn a_quantile_needs_ten_observations_beyond_it() {
    let told = |observations: u64| {
        let mut histogram = Latencies::new();
        (1..=observations).for_each(|value| histogram.record(value));
        let summary = histogram.summary();
        [summary.p50, summary.p90, summary.p99, summary.p999].map(|quantile| quantile.is_some())
    };
    assert_eq!(told(19), [false; 4]);
    assert_eq!(told(20), [true, false, false, false]);
    assert_eq!(told(99), [true, false, false, false]);
    assert_eq!(told(100), [true, true, false, false]);
    assert_eq!(told(999), [true, true, false, false]);
    assert_eq!(told(1000), [true, true, true, false]);
    assert_eq!(told(9_999), [true, true, true, false]);
    assert_eq!(told(10_000), [true; 4]);
}

#[test]
fn quantiles_match_the_values() {
    let mut histogram = Latencies::new();
    (1..=100_000).for_each(|value| histogram.record(value * MICRO));
    let summary = histogram.summary();
    for (got, expected) in
        [(summary.p50, 50_000), (summary.p90, 90_000), (summary.p99, 99_000), (summary.p999, 99_900)]
    {
        assert_near(got.unwrap() as f64, (expected * MICRO) as f64, 1e-3, "a quantile");
    }
    assert_near(summary.mean.unwrap(), 50_000.5e3, 1e-3, "the mean");
    assert_eq!(summary.max, Some(100_000 * MICRO));
}
