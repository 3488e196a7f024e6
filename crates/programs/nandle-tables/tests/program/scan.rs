//! Scans: rows, explanations, recordings.

use nandle_reads::recording::Recording;

use crate::common::{Outcome, Place};

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
fn rows_without_a_value_are_found_and_left_out() {
    let place = Place::new();
    place.generate("t", 30_000);
    let lines = |options: &str| {
        let text = place.run(&format!("scan t --columns FlightNum,ArrDelay --format csv {options}")).done();
        text.stdout.lines().skip(1).map(str::to_owned).collect::<Vec<_>>()
    };
    let (without, with): (Vec<_>, Vec<_>) = lines("").into_iter().partition(|line| line.ends_with(','));
    assert!(!without.is_empty() && !with.is_empty());
    assert!(lines("--null ArrDelay") == without);
    assert!(lines("--not-null ArrDelay,FlightNum") == with);
    place.run("scan t --columns Dest --null Orgin").refused(2, &["did you mean `Origin`?"]);
    place.run("scan t --columns Dest --null ArrDelay --record q.needs.zst").done();
    let recording = Recording::read(&place.path("q.needs.zst")).unwrap();
    assert_eq!(recording.queries[0].text.as_deref(), Some("Dest where ArrDelay is null"));
}

#[test]
fn a_file_in_a_tables_data_is_read_by_the_tables_profile() {
    let place = Place::new();
    place.generate("t", 30_000);
    let [file] = &place.parquet_files("t")[..] else { panic!("one load makes one file") };
    let explained = place.run(&format!("scan {} --columns Origin --explain", file.display())).done();
    let costs = "t/profile.json (of model:nvme-tlc)";
    assert!(explained.stdout.contains(costs), "{explained:?}");
}

#[test]
fn what_it_takes_is_said_before_and_after() {
    let place = Place::new();
    place.generate("t", 60_000);
    // More steps than are decoded in advance.
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
        "path table",
        "Reads whole-group",
        "one-by-one:1",
        "Processor time",
        "of what was predicted",
        "requests read",
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

#[test]
fn a_projection_is_taken_when_it_is_quicker_and_ends_with_its_rows() {
    let place = Place::new();
    place.generate("t", 60_000);
    let made = place.run("table project t Origin,ArrDelay --memory 1MiB --json").done().json();
    assert_eq!((made["rows"].as_u64(), made["projection"].as_str()), (Some(60_000), Some("Origin,ArrDelay")));
    let scan = |options: &str| {
        place.run(&format!("scan t --columns Origin,ArrDelay --in Origin=IAH,HOU {options}")).done()
    };
    let rows = |path: &str| {
        let rows = scan(&format!("--format csv --path {path}")).stdout;
        let mut rows: Vec<String> = rows.lines().skip(1).map(ToOwned::to_owned).collect();
        rows.sort();
        rows
    };
    let by_table = rows("table");
    assert!(!by_table.is_empty());
    assert!(by_table == rows("projection:Origin,ArrDelay") && by_table == rows("auto"));
    let explained = scan("--explain --json").json();
    let paths = explained["paths"].as_array().unwrap();
    assert_eq!(paths.len(), 2);
    let time = |path: &serde_json::Value| path["time"]["value_s"].as_f64().unwrap();
    let least = if time(&paths[0]) <= time(&paths[1]) { &paths[0] } else { &paths[1] };
    assert_eq!((&explained["path"], &least["is_taken"]), (&least["path"], &true.into()), "{explained}");
    assert!(paths[1]["read_bytes"].as_u64() < paths[0]["read_bytes"].as_u64(), "{explained}");
    let text = scan("--explain").stdout;
    assert!(text.contains("projection:Origin,ArrDelay"), "{text}");
    let described = place.run("table describe t --json").done().json();
    assert_eq!(described["projections"][0]["bytes"], made["bytes"]);
    assert!(place.run("table describe t").done().stdout.contains("Origin,ArrDelay"));
    place.run("table verify t").done();
    place
        .run("scan t --columns Dest --path projection:Origin,ArrDelay")
        .refused(2, &["--path", "table project"]);
    place.run("table generate --rows 10 --parquet files").done();
    let loaded = place.run("table load t files/flights-10-1.parquet").done();
    assert!(loaded.stderr.contains("Origin,ArrDelay"), "{}", loaded.stderr);
    assert_eq!(scan("--explain --json").json()["path"], "table");
}

#[test]
fn many_files_are_scanned_with_few_descriptors() {
    let place = Place::new();
    place.run("table generate --rows 10 --parquet files").done();
    let names: Vec<String> = (0..200).map(|number| format!("files/{number}.parquet")).collect();
    for name in &names {
        std::fs::hard_link(place.path("files/flights-10-1.parquet"), place.path(name)).unwrap();
    }
    let limited = |files: u32, line: &str| -> Outcome {
        let script = format!("ulimit -n {files}; exec \"$0\" {line}");
        let mut command = std::process::Command::new("sh");
        command.args(["-c", &script, env!("CARGO_BIN_EXE_nandle-tables")]).current_dir(place.path(""));
        command.output().unwrap().into()
    };
    let line = format!("scan {} --columns Origin --format csv --profile disk.json", names.join(" "));
    assert_eq!(limited(256, &line).done().stdout.lines().count(), 2001);
    limited(100, &line).refused(1, &["files/", "ulimit -n", "table compact"]);
    place.run(&format!("table adopt t {} --profile disk.json", names.join(" "))).done();
    for line in ["scan t --columns Origin --format csv", "table verify t", "table compact t --always"] {
        limited(256, line).done();
    }
}
