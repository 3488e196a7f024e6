//! Creating, growing and describing tables.

use std::sync::Arc;

use arrow_array::{Int64Array, RecordBatch, StringArray};
use arrow_ipc::writer::{FileWriter, StreamWriter};
use nandle_flights::Generator;
use nandle_profile::{read_profile, write_profile};
use nandle_target::facts::identity_of_path;

use crate::common::{Place, sound_rows};

const ROWS: u64 = 20_000;

#[test]
fn csv_and_parquet_of_the_same_flights_are_the_same_table() {
    let place = Place::new();
    place.run(&format!("table generate --rows {ROWS} --seed 3 --csv files --parquet files --json")).done();
    let made = place.run("table load a files/flights-20000-3.csv --profile disk.json --json").done();
    assert_eq!(made.json()["rows"], ROWS);
    assert!(
        made.stderr.contains("flexible block") && made.stderr.contains("decoding a page"),
        "{}",
        made.stderr
    );
    place.run("table adopt b files/flights-20000-3.parquet --profile disk.json").done();
    let rows = |table: &str| {
        let columns = "Month,FlightDate,Origin,TailNum,ArrDelay,Cancelled";
        place.run(&format!("scan {table} --columns {columns} --format csv --profile disk.json")).done().stdout
    };
    assert_eq!(rows("a").lines().count() as u64, ROWS + 1);
    assert!(rows("a") == rows("b"));
    // Creating leaves nothing but the files.
    assert_eq!(std::fs::read_dir(place.path("files")).unwrap().count(), 2);
    let described = place.run("table describe a --json").done().json();
    assert_eq!(described["rows"], ROWS);
    assert_eq!(described["profile"], "model:nvme-tlc");
    let columns = described["columns"].as_array().unwrap();
    assert!(columns.iter().all(|column| column["bytes"].as_u64().unwrap() > 0), "{columns:?}");
    place.run("table verify a").done();
    assert_eq!(place.run("table describe b --json").done().json()["profile"], "model:nvme-tlc");
}

#[test]
fn rows_are_appended_replaced_and_merged() {
    let place = Place::new();
    place.run(&format!("table generate --rows {ROWS} --seed 3 --parquet files")).done();
    let load = |options: &str| place.run(&format!("table load t files/flights-20000-3.parquet {options}"));
    load("--profile disk.json --cluster sort:Origin,ArrDelay").done();
    load("").done();
    let rows = || place.run("table describe t --json").done().json()["rows"].as_u64().unwrap();
    assert_eq!(rows(), 2 * ROWS);
    let replaced = load("--replace Month,Year").done().stdout;
    assert!(replaced.contains("20 000 rows loaded in the place of 40 000 rows"), "{replaced}");
    assert_eq!(rows(), ROWS);
    load("").done();
    // Jumps cost a modelled NVMe drive next to nothing.
    let kept = place.run("table compact t --json").done().json();
    assert_eq!((kept["is_merged"].as_bool(), kept["rule"]["pieces_now"].as_u64()), (Some(false), Some(2)));
    assert!(kept["rule"]["jumps_share"].as_f64().unwrap() <= 0.1, "{kept}");
    let merged = place.run("table compact t --always --json").done().json();
    assert_eq!((merged["runs_before"].as_u64(), merged["rows"].as_u64()), (Some(2), Some(2 * ROWS)));
    // A single run needs no merging.
    let kept = place.run("table compact t").done().stdout;
    assert!(kept.contains("1 run, so there is nothing to merge"), "{kept}");
    let described = place.run("table describe t --json").done().json();
    let economics = &described["economics"];
    assert!(described["columns"][0]["block_rows"].as_u64().unwrap() > 0, "{described}");
    let fetched = economics["break_even_rows"].as_u64().unwrap();
    assert!(fetched < 2 * ROWS, "{economics}");
    let origins = place.run("scan t --columns Origin --format csv").done().stdout;
    let origins: Vec<&str> = origins.lines().skip(1).collect();
    assert!(origins.len() as u64 == 2 * ROWS && origins.is_sorted(), "one run, in order");
    load("--cluster cells:Origin").refused(2, &["--cluster", "sort:Origin,ArrDelay"]);
    load("--replace Moth").refused(2, &["`Moth`", "did you mean `Month`?"]);
    assert_eq!(rows(), 2 * ROWS);
}

#[test]
fn bad_rows_are_kept_aside_and_too_many_change_nothing() {
    let place = Place::new();
    place.run("table generate --rows 1000 --csv files").done();
    let csv = place.read("files/flights-1000-1.csv");
    let bad = csv.lines().next().unwrap().split(',').map(|_| "x").collect::<Vec<_>>().join(",");
    std::fs::write(place.path("some.csv"), format!("{csv}{bad}\n")).unwrap();
    std::fs::write(place.path("many.csv"), format!("{csv}{}", format!("{bad}\n").repeat(20))).unwrap();
    let load = |file: &str, options: &str| {
        place.run(&format!("table load t {file} --rejects bad.csv {options} --json"))
    };
    let loaded = load("some.csv", "--profile disk.json").done().json();
    assert_eq!((loaded["rows"].as_u64(), loaded["rejected_rows"].as_u64()), (Some(1000), Some(1)));
    let rejects = place.read("bad.csv");
    assert!(rejects.lines().count() == 2 && rejects.contains("some.csv,1002,"), "{rejects}");
    load("many.csv", "").refused(1, &["20 of 1020 rows are bad", "--bad-max", "--rejects"]);
    assert_eq!(place.read("bad.csv").lines().count(), 21);
    assert_eq!(place.run("table describe t --json").done().json()["rows"], 1000);
    load("many.csv", "--bad-max 2%").done();
    assert_eq!(place.run("table describe t --json").done().json()["rows"], 2000);
}

/// Writes rows as an Arrow IPC file.
fn write_arrow(place: &Place, name: &str, batch: &RecordBatch) {
    let file = std::fs::File::create(place.path(name)).unwrap();
    if name.ends_with(".arrows") {
        let mut writer = StreamWriter::try_new(file, &batch.schema()).unwrap();
        writer.write(batch).unwrap();
        writer.finish().unwrap();
    } else {
        let mut writer = FileWriter::try_new(file, &batch.schema()).unwrap();
        writer.write(batch).unwrap();
        writer.finish().unwrap();
    }
}

#[test]
fn arrow_files_are_loaded_and_flights_of_all_kinds_are_the_same() {
    let place = Place::new();
    place.run("table generate --rows 700 --seed 3 --csv files --parquet files").done();
    let flights = Generator::new(700, 3).unwrap().chunk(0).unwrap();
    write_arrow(&place, "a.arrow", &flights);
    write_arrow(&place, "b.arrows", &flights.slice(0, 300));
    for (table, file) in
        [("csv", "files/flights-700-3.csv"), ("parquet", "files/flights-700-3.parquet"), ("arrow", "a.arrow")]
    {
        place.run(&format!("table load {table} {file} --profile disk.json")).done();
        assert!(sound_rows(&place.path(table)) == sound_rows(&place.path("csv")), "{table}");
    }
    place.run("table load csv a.arrow b.arrows").done();
    assert_eq!(sound_rows(&place.path("csv")).len(), 1700);
    // A truncated file leaves the table unchanged.
    let whole = std::fs::read(place.path("b.arrows")).unwrap();
    std::fs::write(place.path("cut.arrows"), &whole[..whole.len() - 8]).unwrap();
    place.run("table load csv a.arrow cut.arrows").refused(1, &["cut.arrows", "make it anew"]);
    assert_eq!(sound_rows(&place.path("csv")).len(), 1700);
}

#[test]
fn other_columns_than_the_tables_change_nothing() {
    let place = Place::new();
    place.generate("t", 1000);
    let texts = StringArray::from(vec!["IAH", "HOU"]);
    let numbers = Int64Array::from(vec![1, 2]);
    let batch = |name: &str, other: &str| {
        let columns: [(&str, arrow_array::ArrayRef); 2] =
            [(name, Arc::new(texts.clone())), (other, Arc::new(numbers.clone()))];
        RecordBatch::try_from_iter(columns).unwrap()
    };
    write_arrow(&place, "other.arrow", &batch("Origin", "Year"));
    write_arrow(&place, "third.arrow", &batch("Origin", "Month"));
    place.run("table load other other.arrow --profile disk.json").done();
    let parquet = place.parquet_files("other").remove(0);
    let parquet = parquet.strip_prefix(place.path("")).unwrap().to_str().unwrap().to_owned();
    let before = sound_rows(&place.path("t"));
    for file in ["other.arrow", &parquet] {
        place.run(&format!("table load t {file}")).refused(1, &["t: ", "column `Year`", "make a new table"]);
    }
    place.run("table load new other.arrow third.arrow").refused(1, &["third.arrow", "same columns"]);
    place.run("table load other third.arrow").refused(1, &["other: ", "column `Year`", "`Month`"]);
    assert!(sound_rows(&place.path("t")) == before);
}

#[test]
fn a_profile_of_another_device_is_remarked_on_once() {
    let place = Place::new();
    let found = identity_of_path(&place.path("")).unwrap();
    // Without the system's facts about the device there is no remark.
    let remarks = usize::from(found.capacity_bytes.is_some());
    let told = |line: &str| {
        let outcome = place.run(line).done();
        let words: Vec<&str> =
            outcome.stdout.split_whitespace().chain(outcome.stderr.split_whitespace()).collect();
        words.join(" ").matches("the profile of another device").count()
    };
    assert_eq!(told("table generate t --rows 1000 --profile disk.json"), remarks);
    for line in ["scan t --columns Origin --explain", "cubes t --only delay-month", "table describe t"] {
        assert_eq!(told(line), remarks, "{line}: the table keeps it");
    }
    assert_eq!(told("scan t --columns Origin --profile disk.json"), remarks);
    let mut own = read_profile(&place.path("disk.json")).unwrap();
    own.identity = found;
    write_profile(&place.path("own.json"), &own).unwrap();
    assert_eq!(told("scan t --columns Origin --profile own.json"), 0);
}
