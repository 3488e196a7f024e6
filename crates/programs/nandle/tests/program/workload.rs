//! `nandle workload` and `nandle place`, with few rows in virtual time and on a real file.

use serde_json::Value;

use crate::common::Place;

/// Few rows in little memory, so that there are runs to merge.
const FEW: &str = "--rows 20000 --memory 128KiB --no-progress";
const DISK: &str = "model:barracuda-7200.10";
const FLASH: &str = "model:samsung-mcaqe32";

/// The text without line breaks.
fn words_of(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn ns(value: &Value) -> u64 {
    value.as_u64().unwrap()
}

#[test]
fn a_sort_on_one_modelled_drive_needs_nothing_but_its_name() {
    let place = Place::new();
    let told = place.nandle(&format!("workload sort --temporary {FLASH} {FEW}")).done().fits_80_columns();
    for words in [
        "making runs",
        "merging",
        "fan-in",
        "20 000 rows of 100B",
        "The result was checked",
        "because no profile is named",
    ] {
        assert!(words_of(&told.stdout).contains(words), "{words}: {}", told.stdout);
    }
    let json = place.nandle(&format!("workload sort --temporary {FLASH} {FEW} --json")).done().json();
    assert_eq!((json["schema_version"].as_u64(), json["is_modelled"].as_bool()), (Some(1), Some(true)));
    let outcome = &json["runs"][0]["outcome"];
    assert_eq!(outcome["result_records"], 20_000);
    let phases = [&outcome["phases"][0]["elapsed_ns"], &outcome["phases"][1]["elapsed_ns"]].map(ns);
    assert_eq!(phases[0] + phases[1], ns(&outcome["elapsed_ns"]));
    assert!(!outcome["pattern"]["reads"].as_array().unwrap().is_empty());
    let again = place.nandle(&format!("workload sort --temporary {FLASH} {FEW} --json")).done().json();
    assert_eq!(json, again, "virtual time is the same every time");
}

#[test]
fn a_join_may_have_each_part_elsewhere() {
    let place = Place::new();
    let drives = format!("--input {DISK} --temporary {FLASH} --output model:x25-e-64");
    let json = place.nandle(&format!("workload join {drives} {FEW} --json")).done().json();
    assert_eq!([&json["input"], &json["temporary"], &json["output"]], [DISK, FLASH, "model:x25-e-64"]);
    let outcome = &json["runs"][0]["outcome"];
    assert_eq!(outcome["result_records"], 20_000);
    assert_eq!(outcome["phases"][0]["name"], "partitioning");
}

#[test]
fn a_sweep_has_a_row_for_each_combination() {
    let place = Place::new();
    let sweep = "--sweep cluster=2KiB..8KiB --sweep memory=128KiB..256KiB";
    let told = place.nandle(&format!("workload sort --temporary {DISK} {FEW} {sweep} --json")).done().json();
    let runs = told["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 6);
    assert_eq!(
        (&runs[5]["memory_bytes"], &runs[5]["wanted_cluster_bytes"]),
        (&(256 << 10).into(), &8192.into())
    );
    // A cluster too large for memory is reported in its row.
    let told = place
        .nandle(&format!("workload sort --temporary {DISK} {FEW} --sweep cluster=64KiB..128KiB"))
        .done()
        .fits_80_columns();
    assert!(words_of(&told.stdout).contains("of memory, and the budget is 128KiB"), "{}", told.stdout);
}

#[test]
fn a_real_directory_keeps_nothing() {
    let place = Place::new();
    let json = place.nandle(&format!("workload sort --temporary . {FEW} --json")).done().json();
    assert_eq!(json["is_modelled"], false);
    assert_eq!(json["runs"][0]["outcome"]["result_records"], 20_000);
    let json = place.nandle(&format!("workload join --temporary . {FEW} --json")).done().json();
    assert_eq!(json["runs"][0]["outcome"]["result_records"], 20_000);
    assert!(place.names().is_empty(), "{:?}", place.names());
}

#[test]
fn placing_moves_each_part_alone() {
    let place = Place::new();
    let command = format!("place sort --from {DISK} --to {FLASH} {FEW}");
    let told = place.nandle(&format!("{command} --report place.html")).done().fits_80_columns();
    for words in
        ["nothing", "temporary data", "everything", "C51, the study", "C52, the study", "128KiB", "auto:"]
    {
        assert!(words_of(&told.stdout).contains(words), "{words}: {}", told.stdout);
    }
    assert!(String::from_utf8(place.read("place.html")).unwrap().contains("id=\"pattern-to\""));
    let json = place.nandle(&format!("{command} --json")).done().json();
    let placements = json["placements"].as_array().unwrap();
    let names: Vec<_> = placements.iter().map(|row| row["placement"].as_str().unwrap()).collect();
    assert_eq!(names, ["all_from", "input_to", "temporary_to", "output_to", "all_to"]);
    assert_eq!(placements[0]["elapsed_ratio"], 1.0);
    assert_eq!(json["clusters"].as_array().unwrap().len(), 8);
    assert_eq!(json["findings"].as_array().unwrap().len(), 2);
    // With everything on one drive, the result equals that drive's own workload.
    for (row, drive) in [(&placements[0], DISK), (&placements[4], FLASH)] {
        let alone = place.nandle(&format!("workload sort --temporary {drive} {FEW} --json")).done().json();
        assert_eq!(row["outcome"], alone["runs"][0]["outcome"], "{drive}");
    }
}

#[test]
fn placing_a_join_says_what_the_study_has_of_joins() {
    let place = Place::new();
    let json = place.nandle(&format!("place join --from {DISK} --to {FLASH} {FEW} --json")).done().json();
    assert_eq!(json["findings"][0]["claim"], "C53");
}

#[test]
fn what_makes_no_sense_is_refused_before_anything_is_run() {
    let place = Place::new();
    let cases = [
        (format!("workload sort --temporary {FLASH} --input ."), "one clock"),
        (format!("place sort --from {FLASH} --to ."), "one clock"),
        (format!("place sort --from {FLASH} --to {FLASH}"), "name two targets"),
        (format!("place sort --from {FLASH}"), "--to"),
        (format!("workload sort --temporary {FLASH} --sweep rows=1..2"), "expected cluster or memory"),
        (format!("workload sort --temporary {FLASH} --sweep cluster=8KiB..4KiB"), "greater than the second"),
        (format!("workload sort --temporary {FLASH} --sweep cluster=3KiB..8KiB"), "no power of two"),
        (
            format!("workload sort --temporary {FLASH} --cluster 4KiB --sweep cluster=2KiB..8KiB"),
            "leave one of them out",
        ),
        (format!("workload sort --temporary {FLASH} --memory 1KiB"), "at least 64KiB"),
        (
            format!("workload sort --temporary {FLASH} --memory 64KiB --rows 20000 --cluster 128KiB"),
            "--memory",
        ),
        (format!("workload sort --temporary {FLASH} --key-bytes 4"), "at least 8 bytes"),
        (format!("workload sort --temporary {FLASH} --rows 100000000000"), "--rows"),
        ("workload merge".to_owned(), "sort, join"),
    ];
    for (command, said) in cases {
        place.nandle(&command).refused(2, &[said]);
    }
    place.write("notes.html", "mine");
    let command = format!("workload sort --temporary {FLASH} {FEW} --report notes.html");
    place.nandle(&command).refused(2, &["no report of nandle's"]);
}
