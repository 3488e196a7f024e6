use nandle_io::Nanos;
use nandle_profile::experiments::ReadAhead;

use crate::bench::Bench;

fn on(model: &str) -> ReadAhead {
    let outcome = Bench::new(&format!("model:{model}"), Nanos::from_secs(15)).conduct("read-ahead");
    assert!(outcome.error.is_none(), "{model}: {:?}", outcome.error);
    outcome.experiments.read_ahead.unwrap().findings
}

#[test]
fn streams_and_triggers_are_those_of_the_parameters() {
    // Number of streams followed at a time, and commands that start read-ahead.
    for (model, streams, after) in [("x25-e-64", 1, 4), ("x25-m-g2", 1, 4), ("crucial-m4-256", 4, 4)] {
        let found = on(model);
        assert_eq!(found.stream_count_max.map(|count| count.value), Some(streams), "{model}");
        assert_eq!(found.detected_after_requests, Some(after), "{model}: {:?}", found.latency_by_position_ns);
    }
}

#[test]
fn drives_without_read_ahead_and_one_whose_bus_hides_it() {
    // The card prefetches after its second command, but its bus hides nearly all of the gain.
    let without = ["mtron-16", "nvme-tlc", "nvme-plp"].map(|model| (model, [None, None]));
    for (model, detected) in without.into_iter().chain([("sd-card", [Some(2), Some(3)])]) {
        let found = on(model);
        assert_eq!(found.stream_count_max, None, "{model}");
        assert!(
            detected.contains(&found.detected_after_requests),
            "{model}: {:?}",
            found.detected_after_requests
        );
        assert!(found.streams.iter().all(|cost| (cost.gain.value - 1.0).abs() < 0.1), "{model}");
    }
}

#[test]
fn a_disk_reads_its_track_from_the_first_request_on() {
    let found = on("barracuda-7200.10");
    assert_eq!(found.detected_after_requests, Some(1));
    let of_one = found.streams.iter().find(|cost| cost.streams == 1).unwrap();
    assert!(of_one.gain.value > 50.0 && of_one.gain.low > 5.0, "{of_one:?}");
    assert!((2..=32).contains(&found.stream_count_max.unwrap().value), "{:?}", found.stream_count_max);
}

#[test]
fn the_real_disk() {
    let outcome = Bench::on_disk(Nanos::from_secs(6)).conduct("read-ahead");
    let record = outcome.experiments.read_ahead.unwrap();
    assert!(record.complete && record.bytes_written == 0, "{:?}", record.ended_by);
    assert!(record.findings.streams.len() >= 7 && record.findings.latency_by_position_ns.len() == 16);
}
