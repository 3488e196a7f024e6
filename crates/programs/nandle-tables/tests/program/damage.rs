//! Damage is reported with its place.

use std::fs;

use crate::common::{Place, damage};

#[test]
fn damage_is_named_by_table_file_row_group_and_column() {
    let place = Place::new();
    place.generate("t", 20_000);
    let file = &place.parquet_files("t")[0];
    let name = format!("data/{}", file.file_name().unwrap().to_str().unwrap());
    damage(file);
    let verified = place.run("table verify t --json").refused(1, &["t is damaged in 1 place"]);
    let json = verified.json();
    let damage = &json["damage"][0];
    assert_eq!((&damage["file"], &damage["row_group"]), (&name.as_str().into(), &0.into()), "{json}");
    let middle_bytes = file.metadata().unwrap().len() / 2;
    assert_eq!(damage["offset_bytes"], middle_bytes / 4096 * 4096);
    let (column, what) = (damage["column"].as_str().unwrap(), damage["what"].as_str().unwrap());
    let line = format!("`{name}`, row group 0, column `{column}`: {what}\n");
    assert_eq!(place.run("table verify t").refused(1, &[]).stdout, line);
    let found = place.run(&format!("scan t --columns {column} --format csv"));
    found.refused(1, &["t: ", &name]);
    let sound = if column == "Year" { "Diverted" } else { "Year" };
    place.run(&format!("scan t --columns {sound} --format none")).done();
}

#[test]
fn tables_without_a_root_are_no_tables() {
    let place = Place::new();
    place.generate("t", 1000);
    let current = place.path("t/CURRENT");
    let kept = fs::read(&current).unwrap();
    for contents in [None, Some(&b""[..]), Some(b"manifest-77.json 00000000\n"), Some(b"\xff\xfe")] {
        match contents {
            None => fs::remove_file(&current).unwrap(),
            Some(contents) => fs::write(&current, contents).unwrap(),
        }
        for line in
            ["table describe t", "table verify t", "scan t --columns Origin", "table load t disk.json"]
        {
            place.run(line).refused(1, &["t: ", "CURRENT"]);
        }
    }
    fs::write(&current, kept).unwrap();
    place.run("table describe t").done();
}

#[test]
fn files_that_are_gone_cut_or_swapped_are_named() {
    let place = Place::new();
    place.generate("t", 1000);
    place.generate("u", 900);
    let (file, other) = (&place.parquet_files("t")[0], &place.parquet_files("u")[0]);
    let (whole, foreign) = (fs::read(file).unwrap(), fs::read(other).unwrap());
    for contents in [&whole[..whole.len() / 2], &foreign, b""] {
        fs::write(file, contents).unwrap();
        place.run("scan t --columns Origin").refused(1, &["t: ", "data/"]);
        place.run("table verify t").refused(1, &["damaged"]);
    }
    fs::remove_file(file).unwrap();
    place.run("scan t --columns Origin").refused(1, &["t: ", "data/", "No such file"]);
}

#[test]
fn hostile_files_are_refused() {
    let place = Place::new();
    fs::write(place.path("no.parquet"), b"PAR1 and nothing more").unwrap();
    fs::write(place.path("empty.parquet"), b"").unwrap();
    let mut long = b"PAR1".to_vec();
    long.extend([0xff; 100]);
    long.extend(b"\xff\xff\xff\x7fPAR1");
    fs::write(place.path("long.parquet"), long).unwrap();
    for file in ["no.parquet", "empty.parquet", "long.parquet"] {
        let error = place.run(&format!("scan {file} --columns a --profile disk.json"));
        error.refused(1, &[file]);
    }
    place.run("table load t no.parquet").refused(1, &["no.parquet"]);
    assert!(!place.path("t").exists());
}
