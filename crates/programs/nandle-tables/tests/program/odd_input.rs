//! Unusual but valid input.

use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::process::Command;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int32Array, NullArray, RecordBatch, TimestampMicrosecondArray};
use arrow_ipc::writer::FileWriter;

use crate::common::{Outcome, Place};

fn write(place: &Place, name: &str, columns: Vec<(&str, ArrayRef)>) {
    let columns = columns.into_iter().map(|(name, values)| (name, values, true));
    let batch = RecordBatch::try_from_iter_with_nullable(columns).unwrap();
    let mut writer = FileWriter::try_new(File::create(place.path(name)).unwrap(), &batch.schema()).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
}

#[test]
fn times_of_zones_with_names_are_shown_and_asked_for_in_utc() {
    let place = Place::new();
    for zone in ["UTC", "America/New_York"] {
        let moments = [1_199_243_045_000_000, 1_199_243_046_000_000, 1_199_329_445_000_000];
        let at = TimestampMicrosecondArray::from(moments.to_vec()).with_timezone(zone);
        let row = Int32Array::from(vec![0, 1, 2]);
        write(&place, "a.arrow", vec![("at", Arc::new(at)), ("row", Arc::new(row))]);
        let table = zone.replace('/', "-");
        place.run(&format!("table load {table} a.arrow --profile disk.json")).done();
        let scan = format!("scan {table} --format csv");
        let text = "at,row\n2008-01-02T03:04:05Z,0\n2008-01-02T03:04:06Z,1\n2008-01-03T03:04:05Z,2\n";
        assert_eq!(place.run(&scan).done().stdout, text);
        let between = "--between at=2008-01-02T03:04:06Z..2008-01-02T23:00:00-05:00";
        assert_eq!(place.run(&format!("{scan} --columns row {between}")).done().stdout, "row\n1\n2\n");
        // Rows to replace are matched by value.
        place.run(&format!("table load {table} a.arrow --replace at")).done();
        assert_eq!(place.run(&format!("{scan} --columns row")).done().stdout, "row\n0\n1\n2\n");
    }
}

#[test]
fn a_column_of_nothing_is_null_in_json() {
    let place = Place::new();
    let row = Int32Array::from(vec![7]);
    write(&place, "a.arrow", vec![("row", Arc::new(row)), ("nothing", Arc::new(NullArray::new(1)))]);
    place.run("table load t a.arrow --profile disk.json").done();
    let shown = place.run("scan t --format json").done().stdout;
    assert_eq!(shown, "{\"row\":7,\"nothing\":null}\n");
}

#[test]
fn pipes_are_refused_before_anything_waits_for_them() {
    let place = Place::new();
    let made = Command::new("mkfifo").arg(place.path("pipe")).status().unwrap();
    assert!(made.success());
    for line in
        ["scan pipe --profile disk.json", "table load t pipe --profile disk.json", "table adopt t pipe"]
    {
        place.run(line).refused(2, &["pipe: it is a pipe or a device"]);
    }
    assert!(!place.path("t").exists());
}

#[test]
fn paths_may_be_any_bytes() {
    let place = Place::new();
    place.run("table generate --rows 1000 --seed 1 --parquet one").done();
    place.run("table generate --rows 1000 --seed 2 --parquet two").done();
    let names = [&b"a\xfe.parquet"[..], b"a\xff.parquet"].map(OsStr::from_bytes);
    for (name, folder) in names.iter().zip(["one/flights-1000-1", "two/flights-1000-2"]) {
        std::fs::rename(place.path(&format!("{folder}.parquet")), place.path("").join(name)).unwrap();
    }
    // Both names display alike, and each file is read.
    let scan = |names: &[&OsStr]| -> Outcome {
        let line = "scan --columns TailNum,Origin,ArrDelay,FlightDate --format csv --profile disk.json";
        place.command(line).args(names).output().unwrap().into()
    };
    let rows =
        |outcome: Outcome| outcome.done().stdout.lines().skip(1).map(str::to_owned).collect::<Vec<_>>();
    let each = [rows(scan(&names[..1])), rows(scan(&names[1..]))];
    assert_ne!(each[0], each[1]);
    assert_eq!(rows(scan(&names)), each.concat());
    // The result is reported, in JSON as well.
    let table = OsStr::from_bytes(b"t\xff");
    let load =
        || place.command("table load --profile disk.json --json").args([table, names[0]]).output().unwrap();
    let loaded = Outcome::from(load()).done().json();
    assert_eq!((&loaded["table"], &loaded["rows"]), (&"t\u{fffd}".into(), &1000.into()));
    for line in [
        "table project --json",
        "table compact --always --json",
        "table describe --json",
        "table verify --json",
    ] {
        let mut command = place.command(line);
        command.arg(table);
        if line.contains("project") {
            command.arg("Origin");
        }
        let said = Outcome::from(command.output().unwrap()).done().json();
        assert_eq!(said["table"], "t\u{fffd}", "{line}");
    }
}
