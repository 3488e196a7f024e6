//! Scans: rows, explanations, recordings.

use nandle_reads::recording::Recording;

use crate::common::Place;

#[test]
fn rows_fulfil_the_predicates_by_every_way_of_reading() {
    let place = Place::new();
    place.generate("t", 60_000);
    let all = place.run("scan t --columns Origin,Year,ArrDelay --format csv").done().stdout;
    let fulfils = |line: &&str| {
        let cells: Vec<&str> = line.split(',').collect();
        ["IAH", "HOU"].contains(&cells[0]) && ["2005", "2006"].contains(&cells[1])
    };
    let mut expected: Vec<&str> = all.lines().skip(1).filter(fulfils).collect();
    assert!(expected.len() > 50 && expected.len() < 10_000, "{}", expected.len());
    expected.insert(0, "Origin,Year,ArrDelay");
    let columns = "--columns Origin,Year,ArrDelay --in Origin=IAH,HOU --between Year=2005..2006";
    for how in [
        "flexible",
        "fixed-block",
        "whole-group",
        "one-by-one:3",
        "flexible --block 8KiB --depth 2 --memory 2MiB --io threads",
    ] {
        let rows = place.run(&format!("scan t {columns} --format csv --reads {how}")).done().stdout;
        assert!(rows.lines().eq(expected.iter().copied()), "{how}");
    }
    let json = place.run(&format!("scan t {columns} --format json --limit 7")).done().stdout;
    let first: serde_json::Value = serde_json::from_str(json.lines().next().unwrap()).unwrap();
    assert_eq!(json.lines().count(), 7);
    assert!(first["Year"].is_u64() && first["Origin"].is_string(), "{first}");
    let table = place.run(&format!("scan t {columns}")).done();
    assert_eq!(table.stdout.lines().count(), 21, "a header and twenty rows");
}

#[test]
fn what_it_takes_is_said_before_and_after() {
    let place = Place::new();
    place.generate("t", 60_000);
    // More steps than are decoded beforehand.
    place.run("table generate --rows 10 --parquet files").done();
    for _ in 0..5 {
        place.run("table load t files/flights-10-1.parquet").done();
    }
    let explained = place.run("scan t --columns Origin,ArrDelay --explain --json").done().json();
    assert_eq!(explained["steps"], 6);
    let forecasts = explained["forecasts"].as_array().unwrap();
    let ways: Vec<&str> = forecasts.iter().map(|forecast| forecast["reads"].as_str().unwrap()).collect();
    assert_eq!(ways, ["flexible", "fixed-block", "whole-group", "one-by-one:1"]);
    let (predicted, actual) = (&forecasts[0], &explained["actual"]);
    for figure in ["requests", "read_bytes", "wanted_bytes"] {
        assert_eq!(predicted[figure], actual[figure], "{figure}: no plan is changed while it is carried out");
    }
    assert_eq!(actual["rows"], 60_050);
    let time = |bound: &str| predicted["time"][bound].as_f64().unwrap();
    assert!(time("low_s") <= time("value_s") && time("value_s") <= time("high_s"));
    let text = place.run("scan t --columns Origin --explain --reads whole-group").done().stdout;
    for part in [
        "path scan",
        "Reads whole-group",
        "one-by-one:1",
        "Processor time",
        "of what was predicted",
        "0 urgent",
    ] {
        assert!(text.contains(part), "{part:?} is missing in {text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

#[test]
fn a_recording_is_of_what_was_wanted() {
    let place = Place::new();
    place.generate("t", 60_000);
    let line = "scan t --columns Dest --in Origin=IAH --record q.needs.zst --json";
    let explained = place.run(line).done().json();
    let recording = Recording::read(&place.path("q.needs.zst")).unwrap();
    let [query] = recording.queries.as_slice() else { panic!("{recording:?}") };
    assert_eq!(Some(query.bytes_wanted()), explained["actual"]["wanted_bytes"].as_u64());
    assert_eq!(Some(query.totals.result_rows), explained["actual"]["rows"].as_u64());
    assert_eq!(Some(query.cpu_after_ns.len() as u64), explained["steps"].as_u64());
    assert!(query.cpu_ns() > 0);
    let file = &place.parquet_files("t")[0];
    assert_eq!(recording.files[0].length_bytes, file.metadata().unwrap().len());
}

#[test]
fn a_directory_without_a_profile_is_probed() {
    let place = Place::new();
    place.run("table generate --rows 1000 --parquet files").done();
    let line = "scan files/flights-1000-1.parquet --columns Origin --explain --probe-budget 1s --probe-file-size 16MiB";
    let outcome = place.run(line).done();
    assert!(outcome.stderr.contains("is probed for 1s"), "{}", outcome.stderr);
    assert!(outcome.stdout.contains("a probe of files"), "{}", outcome.stdout);
    assert_eq!(std::fs::read_dir(place.path("files")).unwrap().count(), 1, "the test file is gone");
}
