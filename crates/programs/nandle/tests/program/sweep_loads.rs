use crate::common::{MIB, Place};

/// Runs one cell on a file of 8 MiB, as JSON.
#[track_caller]
fn cell(place: &Place, options: &str) -> serde_json::Value {
    let sweep = "sweep . --json --file-size 8MiB --patterns random";
    let file = place.nandle(&format!("{sweep} {options}")).done().json();
    assert_eq!(file["cells"].as_array().unwrap().len(), 1);
    file["cells"][0].clone()
}

#[test]
fn a_run_moves_exactly_the_bytes_that_were_asked_for() {
    let place = Place::new();
    for (options, bytes) in [
        ("--block-sizes 4KiB --queue-depths 1 --bytes-per-run 1MiB", MIB),
        ("--block-sizes 4KiB --queue-depths 32 --bytes-per-run 1MiB", MIB),
        ("--block-sizes 4KiB --queue-depths 32 --refill batched --bytes-per-run 1MiB", MIB),
        ("--block-sizes 64KiB --queue-depths 8 --operation write --bytes-per-run 3MiB", 3 * MIB),
        ("--block-sizes 4KiB --queue-depths 8 --threads 3 --bytes-per-run 1MiB", MIB),
        ("--block-sizes 4KiB --queue-depths 8 --threads 8 --bytes-per-run 12KiB", 12 << 10),
        // Rounded up to a multiple of the block.
        ("--block-sizes 64KiB --queue-depths 2 --bytes-per-run 100KiB", 128 << 10),
    ] {
        let cell = cell(&place, options);
        assert_eq!(cell["bytes"], bytes, "{options}");
        assert_eq!(
            cell["requests"].as_u64().unwrap() * cell["block_bytes"].as_u64().unwrap(),
            bytes,
            "{options}"
        );
    }
}

#[test]
fn a_run_takes_the_time_that_was_asked_for() {
    let place = Place::new();
    let cell = cell(&place, "--block-sizes 4KiB --queue-depths 4 --time-per-run 300ms");
    let elapsed_ns = cell["elapsed_ns"].as_u64().unwrap();
    assert!((300_000_000..2_000_000_000).contains(&elapsed_ns), "{elapsed_ns}");
}

#[test]
fn whichever_end_comes_first_ends_a_run() {
    let place = Place::new();
    let cell = cell(&place, "--block-sizes 4KiB --queue-depths 4 --time-per-run 60s --bytes-per-run 64KiB");
    assert_eq!(cell["bytes"], 64 << 10);
}

#[test]
fn of_a_mixed_load_the_share_that_was_named_reads() {
    let place = Place::new();
    let running = place.start(
        "sweep . --file-size 4MiB --patterns random --block-sizes 4KiB --queue-depths 8 --operation mixed:70 \
         --time-per-run 1500ms",
    );
    // First the file and its journal are written; afterwards the kernel's counts are the load's.
    running.wait_until("the load reads", || running.disk_bytes().is_none_or(|(read, _)| read > 4 * MIB));
    let Some(first) = running.disk_bytes() else {
        return crate::common::skip("the system doesn't count bytes per process");
    };
    let mut last = first;
    running.wait_until("enough was moved", || {
        let Some(now) = running.disk_bytes() else { return true };
        last = now;
        last.0 - first.0 > 4 * MIB
    });
    running.end().done();
    let (read, written) = ((last.0 - first.0) as f64, (last.1 - first.1) as f64);
    let share = read / (read + written);
    assert!((0.65..0.75).contains(&share), "{share}: {first:?} to {last:?}");
}

#[test]
fn several_threads_share_the_depth() {
    let place = Place::new();
    for io in ["auto", "threads"] {
        let options = "--block-sizes 4KiB --queue-depths 6 --threads 2 --time-per-run 200ms";
        let cell = cell(&place, &format!("{options} --io {io}"));
        assert_eq!(cell["queue_depth"], 6);
        let outstanding = cell["mean_outstanding"].as_f64().unwrap();
        assert!(outstanding > 2.0 && outstanding < 6.2, "{outstanding}");
        assert_eq!(cell["errors"], 0);
    }
}

#[test]
fn an_open_loop_keeps_its_rate_and_reports_its_lag() {
    let place = Place::new();
    for arrivals in ["poisson", "fixed"] {
        let options = "--block-sizes 4KiB --queue-depths 16 --rate 1000 --time-per-run 1s";
        let cell = cell(&place, &format!("{options} --arrivals {arrivals}"));
        assert!(cell["schedule_lag_ns"]["p50"].is_u64(), "{cell}");
        let arrived = cell["requests"].as_u64().unwrap() + cell["unsent"].as_u64().unwrap();
        assert!((800..1200).contains(&arrived), "{arrivals}: {arrived}");
    }
}

#[test]
fn a_device_that_falls_behind_its_schedule_shows_in_lag_and_latency() {
    let place = Place::new();
    let options = "--block-sizes 64KiB --queue-depths 1 --rate 1000000 --time-per-run 300ms";
    let cell = cell(&place, options);
    assert!(cell["unsent"].as_u64().unwrap() > 1000, "{cell}");
    assert!(
        cell["latency_ns"]["max"].as_u64().unwrap() > 100_000_000,
        "latency counts from the schedule: {cell}"
    );
}

#[test]
fn refilling_in_batches_has_fewer_outstanding_and_says_how_many() {
    let place = Place::new();
    let options = "--block-sizes 4KiB --queue-depths 32 --time-per-run 400ms --io threads";
    let mean = |refill: &str| {
        cell(&place, &format!("{options} --refill {refill}"))["mean_outstanding"].as_f64().unwrap()
    };
    let batched = mean("batched");
    assert!(batched > 16.0 && batched < 31.5, "{batched}");
    assert!(mean("exact") <= 32.1);
}

#[test]
fn loads_that_make_no_sense_are_refused() {
    let place = Place::new();
    let refused = |options: &str, parts: &[&str]| {
        place.nandle(&format!("sweep . --file-size 1MiB {options}")).refused(2, parts);
    };
    refused("--threads 0", &["--threads 0"]);
    refused("--rate 0", &["--rate 0", "above 0"]);
    refused("--rate nan", &["--rate"]);
    refused("--rate 5 --bytes-per-run 1MiB", &["--rate", "--time-per-run"]);
    refused("--rate 5 --bytes-per-run 1MiB --time-per-run 1s", &["--rate", "--bytes-per-run"]);
    refused("--arrivals fixed", &["--rate"]);
    refused("--operation mixed:101", &["mixed:101", "0 to 100"]);
    refused("--operation trim", &["trim", "read, write or mixed"]);
    refused("--patterns spiral", &["spiral", "partitioned:STREAMS"]);
    refused("--bytes-per-run 0", &["--bytes-per-run", "above 0"]);
    refused("--time-per-run 0", &["--time-per-run", "above 0"]);
}
