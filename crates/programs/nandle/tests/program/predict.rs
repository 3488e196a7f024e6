//! `nandle predict`, on models in virtual time and on a real file.

use std::fs;

use nandle_io::Nanos;
use nandle_reads::recording::{Names, QueryTotals, Recorder};
use nandle_reads::{Groups, Want};
use serde_json::Value;

use crate::common::Place;

const DISK: &str = "model:wd2003fyys";
const FLASH: &str = "model:x25-m-g2";
/// Options for a short probe.
const SHORT: &str = "--probe-budget 5s --no-progress";

/// Records a scattered and a sequential query, each of 800 blocks.
fn record(place: &Place, names: Names) {
    let mut recorder = Recorder::new(Vec::new(), names).unwrap();
    let file = recorder.file("data/flights.parquet", 256 << 20, &Groups::Every(32 << 10)).unwrap();
    for (name, stride) in [("jumping", 31), ("in sequence", 1)] {
        recorder.begin_query(name, Some("select count(*)")).unwrap();
        for step in 0..100_u64 {
            let want = |number| Want {
                file,
                offset_bytes: (step * 8 + number) * stride * 8192,
                length_bytes: 8192,
                step: 0,
            };
            let wants: Vec<Want> = (0..8).map(want).collect();
            recorder.step(&wants, Nanos::from_micros(200)).unwrap();
        }
        let took_ns = Some(1_234_000_000);
        let totals = QueryTotals { result_rows: 7, took_ns, ..QueryTotals::default() };
        recorder.end_query(totals).unwrap();
    }
    fs::write(place.path("some.needs.zst"), recorder.finish().unwrap()).unwrap();
}

fn recorded() -> Place {
    let place = Place::new();
    record(&place, Names::Kept);
    place
}

fn words_of(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn time_ns(json: &Value, target: usize, query: usize) -> u64 {
    json["targets"][target]["queries"][query]["played"]["time_ns"].as_u64().unwrap()
}

#[test]
fn queries_by_targets_are_a_table_and_a_page() {
    let place = recorded();
    let told = place
        .nandle(&format!(
            "predict some.needs.zst --on {DISK},{FLASH} {SHORT} --report drives.html -o drives.json"
        ))
        .done()
        .fits_80_columns();
    for words in [
        "2 queries on 1 file of 256MiB",
        "A: model:wd2003fyys",
        "B: model:x25-m-g2",
        "jumping",
        "in sequence",
        "reads flexible, memory 256MiB",
        "recorded",
        "1.23 s",
        "model:x25-m-g2 is the fastest: model:wd2003fyys takes",
        "because no profile is named",
        "Times on modelled drives are virtual.",
    ] {
        assert!(words_of(&told.stdout).contains(words), "{words}: {}", told.stdout);
    }
    let page = fs::read_to_string(place.path("drives.html")).unwrap();
    assert!(page.contains("jumping") && page.contains("Which device is fastest?"));
    let json: Value = serde_json::from_slice(&fs::read(place.path("drives.json")).unwrap()).unwrap();
    assert_eq!((&json["schema_version"], &json["targets"][1]["target"]), (&1.into(), &FLASH.into()));
    let totals = |target: usize| json["targets"][target]["total_ns"].as_u64().unwrap();
    assert_eq!(totals(0), time_ns(&json, 0, 0) + time_ns(&json, 0, 1));
    // Seeks slow the disk down, and flash hardly.
    assert!(time_ns(&json, 0, 0) > 4 * time_ns(&json, 0, 1), "{json}");
    assert!(time_ns(&json, 0, 0) > 10 * time_ns(&json, 1, 0), "{json}");
    // A second run over the first one's files gives identical results.
    let again = format!(
        "predict some.needs.zst --on {DISK},{FLASH} {SHORT} --json -o drives.json --report drives.html"
    );
    assert_eq!(place.nandle(&again).done().json(), json);
}

#[test]
fn ways_of_reading_and_processors_differ() {
    let place = recorded();
    let run = |more: &str| {
        place.nandle(&format!("predict some.needs.zst --on {FLASH} {SHORT} --json {more}")).done().json()
    };
    let (flexible, alone) = (run(""), run("--reads one-by-one:1 --memory 1MiB"));
    assert!(time_ns(&alone, 0, 0) > 2 * time_ns(&flexible, 0, 0), "{alone} {flexible}");
    assert_eq!((&alone["reads"], &alone["memory_bytes"]), (&"one-by-one:1".into(), &(1 << 20).into()));
    let group = run("--reads whole-group");
    assert_eq!(group["targets"][0]["queries"][0]["played"]["read_bytes"], 800 * (32 << 10));
    let fast = run("--cpu-scale 0");
    assert_eq!(fast["targets"][0]["queries"][0]["played"]["computing_ns"], 0);
    assert_eq!(flexible["targets"][0]["queries"][0]["played"]["computing_ns"], 20_000_000);
    assert!(time_ns(&fast, 0, 1) < time_ns(&flexible, 0, 1));
}

#[test]
fn a_profile_takes_the_place_of_a_probe() {
    let place = recorded();
    place.nandle(&format!("probe {FLASH} --budget 5s --no-progress")).done();
    let told = place
        .nandle(&format!("predict some.needs.zst --on {FLASH} --profile profile.json --no-progress"))
        .done();
    assert!(
        words_of(&told.stdout).contains("planned by the profile profile.json (model:x25-m-g2)"),
        "{}",
        told.stdout
    );
    let told = place.nandle(&format!("predict some.needs.zst --on {FLASH},{DISK} --profile profile.json"));
    assert!(told.stderr.contains("2 targets (--on) and 1 profiles"), "{}", told.stderr);
    let told = place.nandle(&format!("predict some.needs.zst --on {FLASH} --profile some.needs.zst"));
    assert!(told.stderr.contains("some.needs.zst"), "{}", told.stderr);
}

#[test]
fn a_real_directory_is_read_and_left_empty() {
    let place = recorded();
    let json =
        place.nandle("predict some.needs.zst --on . --probe-budget 1s --no-progress --json").done().json();
    assert_eq!(json["targets"][0]["is_modelled"], false);
    assert!(time_ns(&json, 0, 0) >= 20_000_000, "the processor is kept busy as recorded");
    let names: Vec<_> =
        fs::read_dir(place.path(".")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["some.needs.zst"]);
}

#[test]
fn an_anonymous_recording_has_numbers() {
    let place = Place::new();
    record(&place, Names::Left);
    let told = place.nandle(&format!("predict some.needs.zst --on {DISK} {SHORT}")).done();
    assert!(told.stdout.contains("query 1") && !told.stdout.contains("jumping"), "{}", told.stdout);
}

#[test]
fn a_query_that_memory_has_no_room_for_is_told() {
    let place = Place::new();
    let mut recorder = Recorder::new(Vec::new(), Names::Kept).unwrap();
    let file = recorder.file("a", 64 << 20, &Groups::Unknown).unwrap();
    for (name, length_bytes) in [("narrow", 8192), ("wide", 8 << 20)] {
        recorder.begin_query(name, None).unwrap();
        recorder.step(&[Want { file, offset_bytes: 0, length_bytes, step: 0 }], Nanos(0)).unwrap();
        recorder.end_query(QueryTotals::default()).unwrap();
    }
    fs::write(place.path("some.needs.zst"), recorder.finish().unwrap()).unwrap();
    let told = place.nandle(&format!("predict some.needs.zst --on {DISK} {SHORT} --memory 1MiB")).done();
    assert!(words_of(&told.stdout).contains("wide on model:wd2003fyys: step 0 needs"), "{}", told.stdout);
    let refused = place.nandle(&format!("predict some.needs.zst --on {DISK} {SHORT} --memory 4KiB"));
    assert!(refused.stderr.contains("at least 64KiB"), "{}", refused.stderr);
}

#[test]
fn what_is_no_recording_is_named() {
    let place = recorded();
    let whole = fs::read(place.path("some.needs.zst")).unwrap();
    fs::write(place.path("cut.needs.zst"), &whole[..whole.len() / 2]).unwrap();
    let mut damaged = whole.clone();
    let middle = damaged.len() / 2;
    damaged[middle] ^= 0x10;
    fs::write(place.path("damaged.needs.zst"), damaged).unwrap();
    fs::write(place.path("text.needs.zst"), "hello").unwrap();
    for (name, words) in [
        ("cut.needs.zst", "cut off"),
        ("damaged.needs.zst", "damaged"),
        ("text.needs.zst", "is no recording"),
        ("none.needs.zst", "can't read the recording"),
    ] {
        let told = place.nandle(&format!("predict {name} --on {DISK} {SHORT}"));
        assert!(told.stderr.contains(words) && told.stderr.contains(name), "{words}: {}", told.stderr);
    }
    for (on, words) in [
        (format!("{DISK},{DISK}"), "twice"),
        ("model:none".to_owned(), "none"),
        (format!("{DISK},"), "no target is named"),
    ] {
        let told = place.nandle(&format!("predict some.needs.zst --on {on} {SHORT}"));
        assert!(told.stderr.contains(words), "{words}: {}", told.stderr);
    }
    let told = place.nandle(&format!("predict some.needs.zst --on {DISK} {SHORT} --report some.needs.zst"));
    assert!(told.stderr.contains("no report of nandle's"), "{}", told.stderr);
}
