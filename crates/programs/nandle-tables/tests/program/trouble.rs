//! Refusals and their remedies.

use std::fs::File;
use std::process::Stdio;

use crate::common::Place;

#[test]
fn names_that_are_unknown_are_met_with_those_that_are_known() {
    let place = Place::new();
    place.generate("t", 1000);
    place.run("scan t --columns origin").refused(2, &["`origin`", "did you mean `Origin`?"]);
    place.run("scan t --columns Dest --in Orgin=IAH").refused(2, &["did you mean `Origin`?"]);
    place.run("scan t --columns Dest --between Year=soon..").refused(2, &["`soon`", "`Year`"]);
    place.run("scan nowhere.parquet --columns a").refused(1, &["nowhere.parquet"]);
    place.run("table describe nowhere").refused(2, &["nowhere", "nandle table load nowhere"]);
    place.run("scan t disk.json --columns a").refused(2, &["not both"]);
    place.run("scan t --columns Dest --format csv --json").refused(2, &["--format json"]);
    place.run("scan t --columns Dest --reads quickly").refused(2, &["flexible", "one-by-one:N"]);
    place.run("scan t --columns Dest --profile t/CURRENT").refused(1, &["CURRENT"]);
    place.run("table generate t --rows 10 --profile disk.json").refused(1, &["t: ", "table already"]);
    place.run("table generate --rows 10").refused(2, &["--csv DIR"]);
    place.run("table load t disk.json no.csv").refused(1, &["no.csv"]);
}

#[test]
fn what_is_no_table_is_met_with_what_it_is() {
    let place = Place::new();
    place.run("table generate --rows 10 --parquet files").done();
    std::fs::create_dir(place.path("empty")).unwrap();
    let file = "files/flights-10-1.parquet";
    place.run(&format!("table describe {file}")).refused(2, &["this is a file", "nandle table adopt NEW"]);
    place.run("table describe empty").refused(2, &["no `CURRENT`", "nandle table load empty"]);
    place.run("table adopt t files").refused(2, &["files: it is a directory", "files/*"]);
    place.run("table load t files").refused(2, &["files: it is a directory", "files/*"]);
    // Without a profile: a probe would take seconds if it came first.
    place.generate("t", 10);
    place.run("scan t --columns FlightDate --in FlightDate=2008-13-01").refused(2, &["such as 2008-04-30"]);
}

#[test]
fn a_scan_of_no_rows_has_no_ratio() {
    let place = Place::new();
    place.generate("t", 1000);
    let nothing = place.run("scan t --columns Dest --between Year=2100.. --explain").done().stdout;
    assert!(!nothing.contains("of what was predicted") && !nothing.contains("-0"), "{nothing}");
}

#[test]
fn a_second_writer_is_refused_and_readers_are_not() {
    let place = Place::new();
    place.generate("t", 1000);
    place.run("table generate --rows 10 --csv files").done();
    let lock = File::options().write(true).open(place.path("t/LOCK")).unwrap();
    lock.lock().unwrap();
    for line in ["table load t files/flights-10-1.csv", "table compact t --always", "table project t Origin"]
    {
        place.run(line).refused(1, &["t: ", "another process writes"]);
    }
    place.run("scan t --columns Origin --format none").done();
    drop(lock);
    place.run("table load t files/flights-10-1.csv").done();
}

#[test]
fn too_little_memory_is_met_with_how_much_is_enough() {
    let place = Place::new();
    place.generate("t", 200_000);
    let line =
        "scan t --columns Origin,Dest,TailNum,FlightNum,DepTime,ArrTime,ArrDelay,Distance --format none";
    let refused = place.run(&format!("{line} --memory 1MiB")).refused(2, &["give at least --memory "]);
    let (_, enough) = refused.stderr.split_once("--memory ").unwrap();
    place.run(&format!("{line} --memory {}", enough.trim().trim_end_matches('.'))).done();
}

#[test]
fn columns_of_another_schema_are_refused_and_nothing_changes() {
    let place = Place::new();
    place.generate("t", 1000);
    place.run("table generate --rows 10 --parquet files --csv files").done();
    std::fs::write(place.path("other.csv"), "a,b\n1,2\n").unwrap();
    std::fs::write(place.path("empty.csv"), "").unwrap();
    place.run("table load t other.csv").refused(1, &["the header is not that of flight records"]);
    place.run("table load t empty.csv").refused(1, &["the file is empty"]);
    place
        .run("table load t files/flights-10-1.csv files/flights-10-1.parquet")
        .refused(2, &["each kind by itself"]);
    assert_eq!(place.run("table describe t --json").done().json()["snapshot"], 2);
}

#[test]
fn results_replace_only_older_ones_of_their_kind() {
    let place = Place::new();
    place.generate("t", 1000);
    place.run("table generate --rows 10 --csv files --parquet files").done();
    let (csv, parquet) = ("files/flights-10-1.csv", "files/flights-10-1.parquet");
    let before = [csv, parquet].map(|name| std::fs::read(place.path(name)).unwrap());
    place.run(&format!("table load t {csv} --rejects {csv}")).refused(2, &[csv, "is left alone"]);
    let scan = format!("scan {parquet} --columns Origin --profile disk.json --record");
    place.run(&format!("{scan} {parquet}")).refused(2, &[parquet, "is left alone"]);
    let cubes = "cubes t --only delay-month --profile disk.json";
    place.run(&format!("{cubes} --record {parquet}")).refused(2, &[parquet, "is left alone"]);
    place.run(&format!("{cubes} --report {csv}")).refused(2, &[csv, "is left alone"]);
    place.run(&format!("{scan} nowhere/recording")).refused(2, &["nowhere/recording", "create one"]);
    assert_eq!([csv, parquet].map(|name| std::fs::read(place.path(name)).unwrap()), before);
    for _ in 0..2 {
        place.run(&format!("{scan} recording")).done();
        place.run(&format!("table load t {csv} --rejects rejects")).done();
    }
}

#[test]
fn no_column_of_a_later_file_is_lost() {
    let place = Place::new();
    place.generate("t", 1000);
    place.run("table project t Origin,ArrDelay").done();
    let entries = std::fs::read_dir(place.path("t/projections")).unwrap();
    let names = entries.map(|entry| entry.unwrap().path().display().to_string());
    let narrow = names.into_iter().find(|name| name.ends_with(".parquet")).unwrap();
    place.run("table generate --rows 10 --parquet files").done();
    let wide = "files/flights-10-1.parquet";
    let load = "table load new --profile disk.json";
    place
        .run(&format!("{load} {narrow} {wide}"))
        .refused(1, &[wide, "column `", "missing in the first file"]);
    place.run(&format!("{load} {wide} {narrow}")).refused(1, &["column `", "is missing, and "]);
    assert!(!place.path("new").exists());
}

#[test]
fn a_first_load_that_can_not_begin_makes_no_table() {
    let place = Place::new();
    std::fs::write(place.path("data.csv.gz"), [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 3, 0]).unwrap();
    place.run("table load t data.csv.gz --profile disk.json").refused(1, &["data.csv.gz"]);
    assert!(!place.path("t").exists());
    place.run("table generate --rows 10 --csv files").done();
    let load = "table load t files/flights-10-1.csv --profile disk.json";
    place.run(&format!("{load} --cluster sort:Orign")).refused(2, &["did you mean `Origin`?"]);
    assert!(!place.path("t").exists());
    let csv = place.read("files/flights-10-1.csv");
    std::fs::write(place.path("half.csv"), csv + &"bad\n".repeat(10)).unwrap();
    place.run("table load u half.csv --profile disk.json").refused(1, &["10 of 20 rows are bad"]);
    assert!(!place.path("u").exists());
    std::fs::create_dir(place.path("u")).unwrap();
    place.run("table load u half.csv --profile disk.json").refused(1, &["10 of 20 rows are bad"]);
    assert!(
        std::fs::read_dir(place.path("u")).unwrap().next().is_none(),
        "it was there before, and is empty again"
    );
    assert!(!place.run(load).done().stderr.contains("are for new tables"));
    assert!(place.run(load).done().stderr.contains("are for new tables"));
}

#[test]
fn generated_files_are_whole_or_not_there() {
    let place = Place::new();
    std::fs::create_dir(place.path("files")).unwrap();
    std::fs::write(place.path("files/flights-10-1.parquet"), "there").unwrap();
    place.run("table generate --rows 10 --parquet files --csv files").refused(2, &["is there already"]);
    let names = std::fs::read_dir(place.path("files")).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<_> = names.collect();
    names.sort();
    assert_eq!(names, ["flights-10-1.csv", "flights-10-1.parquet"]);
    assert_eq!(place.read("files/flights-10-1.csv").lines().count(), 11);
}

#[test]
fn a_scan_whose_reader_left_is_not_recorded_as_whole() {
    let place = Place::new();
    place.generate("t", 200_000);
    let line = "scan t --columns Origin,Dest --format csv --profile disk.json --record r.needs.zst";
    let mut child = place.command(line).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let outcome = crate::common::Outcome::from(child.wait_with_output().unwrap()).done();
    assert!(outcome.stderr.contains("there is no recording"), "{outcome:?}");
    assert!(!place.path("r.needs.zst").exists());
}

#[test]
fn a_directory_of_something_else_becomes_no_table() {
    let place = Place::new();
    place.run("table generate --rows 10 --csv files").done();
    let load = "table load files files/flights-10-1.csv --profile disk.json";
    for line in [load, "table generate files --rows 10 --profile disk.json"] {
        place.run(line).refused(1, &["files: ", "`flights-10-1.csv`, which is nothing of a table"]);
    }
    place.run("scan files --columns Origin").refused(2, &["there is no table in this directory"]);
    assert_eq!(std::fs::read_dir(place.path("files")).unwrap().count(), 1);
}
