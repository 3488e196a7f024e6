use rustix::process::Signal;

use crate::common::{MIB, Place, SHORT};

/// Returns true for lines caused by other tests on the same disk.
fn is_of_others(line: &str) -> bool {
    line.contains("is in use by others")
}

#[test]
fn it_leaves_a_profile_and_a_report_and_nothing_else() {
    let place = Place::new();
    let outcome = place.nandle(&format!("probe . {SHORT}")).done().fits_80_columns();
    assert_eq!(place.names(), ["profile.json", "report.html"]);
    assert!(!outcome.stdout.contains('\x1b'), "no colours where there is no terminal");
    let said: Vec<&str> = outcome.stderr.lines().filter(|line| !is_of_others(line)).collect();
    assert_eq!(said, ["profile: profile.json", "report:  report.html"], "no progress either");
    let page = String::from_utf8(place.read("report.html")).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.trim_end().ends_with("</html>"));
    let profile = place.json("profile.json");
    assert_eq!(profile["schema_version"], 1);
    assert_eq!(profile["target"], place.name());
    // Writing may take a quarter of the budget, so that a busy disk gets a smaller file.
    assert_eq!(profile["conditions"]["wanted_file_bytes"], 16 * MIB);
    assert!(profile["conditions"]["file_bytes"].as_u64().unwrap() <= 16 * MIB);
    assert_eq!(profile["conditions"]["contents_checked"], true);
    assert_eq!(profile["conditions"]["errors"], 0);
    assert!(!profile["cells"].as_array().unwrap().is_empty());
}

#[test]
fn a_profile_has_every_part_that_is_documented() {
    let place = Place::new();
    place.nandle(&format!("probe . {SHORT}")).done();
    let profile = place.json("profile.json");
    let keys: Vec<_> = profile.as_object().unwrap().keys().map(String::as_str).collect();
    for part in ["identity", "system", "backend", "conditions", "derived", "cells", "fitted_cells", "partial"]
    {
        assert!(keys.contains(&part), "{part} is missing in {keys:?}");
    }
    for parameter in [
        "efficient_block_bytes",
        "saturating_queue_depth",
        "random_equals_sequential",
        "group_penalty",
        "split_bytes",
        "flexible_io",
    ] {
        assert!(profile["derived"].get(parameter).is_some(), "{parameter} is missing");
    }
    let cell = &profile["cells"][0];
    for figure in ["pattern", "block_bytes", "queue_depth", "bandwidth_bytes_per_s", "latency_ns", "slices"] {
        assert!(cell.get(figure).is_some(), "{figure} is missing in {cell}");
    }
}

#[test]
fn json_on_standard_output_is_the_profile_and_nothing_else() {
    let place = Place::new();
    let outcome = place.nandle(&format!("probe . {SHORT} --json --profile p.json --report r.html")).done();
    assert_eq!(outcome.json(), place.json("p.json"));
    assert!(outcome.stderr.lines().all(is_of_others), "{}", outcome.stderr);
    assert_eq!(place.names(), ["p.json", "r.html"]);
}

#[test]
fn a_second_probe_replaces_the_first_ones_files() {
    let place = Place::new();
    place.nandle(&format!("probe . {SHORT} --seed 1")).done();
    place.nandle(&format!("probe . {SHORT} --seed 2")).done();
    assert_eq!(place.json("profile.json")["conditions"]["seed"], 2);
    assert_eq!(place.names(), ["profile.json", "report.html"]);
}

#[test]
fn a_budget_too_short_to_conclude_makes_a_partial_profile_that_says_what_is_missing() {
    let place = Place::new();
    let outcome = place.nandle(&format!("probe . {SHORT}")).done();
    let partial = place.json("profile.json")["partial"].to_string();
    assert!(partial.contains("not concluded: ") && partial.contains("--budget"), "{partial}");
    assert!(outcome.stdout.contains("? Partial: "), "{}", outcome.stdout);
}

#[test]
fn a_device_that_stops_answering_is_no_success() {
    let place = Place::new();
    // No device responds within 1 ns at every check, five times a second.
    let outcome = place.nandle("probe . --budget 30s --file-size 8MiB --patience 1ns");
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    outcome.says(&["has not answered", "--patience"]);
}

#[test]
fn what_was_not_measured_is_not_said_to_be_nowhere() {
    let place = Place::new();
    let outcome = place.nandle(&format!("probe . {SHORT}")).done();
    let sequential = &place.json("profile.json")["derived"]["sequential_bandwidth_bytes_per_s_max"];
    assert_eq!(
        outcome.stdout.contains("as in order: not concluded"),
        sequential.is_null(),
        "{}",
        outcome.stdout
    );
}

#[test]
fn somebodys_file_is_read_and_stays_as_it_was() {
    let place = Place::new();
    let contents = place.write_noise("data", 8 * MIB);
    place.nandle("probe data --budget 1s").done();
    assert!(place.read("data") == contents);
    assert_eq!(place.names(), ["data", "profile.json", "report.html"]);
    let profile = place.json("profile.json");
    assert_eq!(profile["conditions"]["fill_ns"], 0);
    assert_eq!(profile["conditions"]["contents_checked"], false, "what it should hold is unknown");
    assert_eq!(profile["first_touch"], serde_json::Value::Null);
}

#[test]
fn the_test_file_has_no_name_and_goes_with_a_killed_program() {
    let place = Place::new();
    let running = place.start("probe . --budget 60s --file-size 32MiB");
    running.wait_until_written(MIB);
    assert_eq!(place.names(), [""; 0], "it has no name while the program runs");
    let test_file = |name: &String| name.contains("(deleted)") && name.contains(".tmp");
    assert!(running.open_files().iter().any(test_file), "{:?}", running.open_files());
    running.signal(Signal::KILL);
    assert_eq!(running.end().code, None);
    assert_eq!(place.names(), [""; 0]);
}

#[test]
fn a_kept_test_file_is_made_on_request_and_known_again() {
    let place = Place::new();
    place
        .nandle("probe kept --overwrite --budget 2s --file-size 8MiB")
        .done()
        .says(&["profile: profile.json"]);
    assert_eq!(place.names(), ["kept", "profile.json", "report.html"]);
    place
        .nandle("sweep kept --operation write --block-sizes 4KiB --queue-depths 1 --bytes-per-run 64KiB")
        .done();
    place.nandle("probe kept --budget 1s").done();
    assert_eq!(place.json("profile.json")["conditions"]["fill_ns"], 0, "it was there already");
}

#[test]
fn the_summary_tells_commits_and_reads_beside_writes() {
    let place = Place::new();
    let commits = place.nandle("probe model:x25-e-64 --only flush --budget 1m").done().fits_80_columns();
    assert!(
        commits.stdout.starts_with("model:x25-e-64: modelled x25-e-64, 3.73GiB. In virtual time.\n"),
        "{commits:?}"
    );
    let costs = &place.json("profile.json")["experiments"]["flush"]["findings"];
    let of_page = |cost: &&serde_json::Value| cost["write_bytes"] == 8192;
    let ways: Vec<_> = costs["commits"].as_array().unwrap().iter().filter(of_page).collect();
    assert_eq!(ways.len(), 2, "with a flush, and durable by itself");
    // A commit of this drive takes 0.47 ms: 1.1 s have more than a thousand.
    let lines = commits.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    let table = lines.split("durable writes of 8KiB, us p50 mean p99 commits ").nth(1);
    let row: Vec<_> = table.unwrap_or_else(|| panic!("{lines}")).split(' ').take(7).collect();
    assert_eq!(row[..3], ["write,", "then", "flush"], "{lines}");
    assert_eq!((row[3], row[5]), ("467", "467"), "the mean between them is a little more: {lines}");
    // A model has no file for fdatasync.
    let headline = "Commit: 467 us in the median, p99 467 us (8KiB by write, then flush)";
    assert!(lines.contains(headline), "{lines}");
    assert!(lines.contains("Group commit:") && lines.contains("writers that share flushes,"), "{lines}");
    let beside =
        place.nandle("probe model:x25-e-64 --only interference --budget 2m").done().fits_80_columns();
    let lines = beside.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(lines.contains("Reads beside writes: p99 of 13 193 reads/s: "), "{lines}");
    assert!(lines.contains(" alone, ") && lines.contains(" writes/s"), "{lines}");
}

#[test]
fn why_nothing_was_written_is_said() {
    let place = Place::new();
    let outcome = place.nandle("probe model:mtron-16 --budget 5m --write-limit 0 --skip sync-reads").done();
    let lines = outcome.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(lines.contains("Not measured Why not"), "{lines}");
    assert!(lines.contains("it writes, and --write-limit allows nothing"), "{lines}");
    assert!(!lines.contains("sync-reads"), "it was not asked for: {lines}");
    let short = place.nandle("probe model:mtron-16 --budget 5s").done().fits_80_columns();
    let lines = short.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(lines.contains("it writes, and a budget below 5m is"), "{lines}");
}

#[test]
fn options_that_leave_nothing_to_do_or_are_others_are_refused() {
    let place = Place::new();
    place
        .nandle("probe . --only reads --skip reads")
        .refused(2, &["--only reads", "--skip reads", "nothing is left"]);
    place.nandle("probe . --output x.json").refused(2, &["--output", "--profile", "--report"]);
    place
        .nandle("probe model:mtron-16 --read-only --only flush")
        .refused(2, &["nothing is left", "flush (it writes, and --read-only"]);
    place.nandle("probe . --only flush,reads --skip reads,flush").refused(2, &["--only", "--skip"]);
    assert!(place.names().is_empty());
}

#[test]
fn a_partial_profile_never_replaces_a_complete_one() {
    let place = Place::new();
    place.nandle("probe model:mtron-16 --budget 60s").done();
    let (profile, report) = (place.json("profile.json"), place.read("report.html"));
    assert_eq!(profile["partial"].as_array().unwrap().len(), 0, "{}", profile["partial"]);
    let outcome = place.nandle("probe model:mtron-16 --budget 20s --only sync-reads").done();
    outcome.says(&["profile: profile.partial.json", "report:  report.partial.html"]);
    assert!(place.json("profile.partial.json")["partial"].to_string().contains("not asked for"));
    assert_eq!(place.json("profile.json"), profile);
    assert!(place.read("report.html") == report, "nor its report");
    // A partial profile replaces a partial one, and a complete one replaces either.
    place.nandle("probe model:mtron-16 --budget 20s --only sync-reads --profile p.json").done();
    place.nandle("probe model:mtron-16 --budget 20s --only sync-reads --profile p.json --seed 2").done();
    assert_eq!(place.json("p.json")["conditions"]["seed"], 2);
    assert!(!place.path("p.partial.json").exists());
    place.nandle("probe model:mtron-16 --budget 60s --seed 2").done();
    assert_eq!(place.json("profile.json")["conditions"]["seed"], 2);
    // A profile doesn't replace a more extensive one.
    place.nandle("probe model:mtron-16 --budget 20s --only sync-reads,read-ahead --profile q.json").done();
    let more = place.json("q.json");
    place.nandle("probe model:mtron-16 --budget 20s --only sync-reads --profile q.json").done();
    assert_eq!(place.json("q.json"), more);
    assert!(place.path("q.partial.json").exists());
}

#[test]
fn the_profile_of_another_device_is_replaced_only_where_it_is_named() {
    let place = Place::new();
    place.nandle("probe model:mtron-16 --budget 5s").done();
    let before = ["profile.json", "report.html"].map(|name| place.read(name));
    let other = "probe model:x25-e-64 --budget 5s";
    place
        .nandle(other)
        .refused(2, &["profile.json", "another device (model:mtron-16", "--profile OTHER.json"]);
    assert_eq!(["profile.json", "report.html"].map(|name| place.read(name)), before);
    place.nandle(&format!("{other} --experiments")).done();
    place.nandle(&format!("{other} --profile other.json")).done();
    assert_eq!(place.read("profile.json"), before[0]);
    place.nandle("probe model:mtron-16 --budget 5s --seed 2").done();
    assert_ne!(place.read("profile.json"), before[0]);
    place.nandle(&format!("{other} --profile profile.json")).done();
    assert_eq!(place.json("profile.json")["target"], "model:x25-e-64");
}
