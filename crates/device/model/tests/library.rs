//! The library of drives and arrays, and the loader, which also reads users' files.
#![allow(clippy::unwrap_used, reason = "a test's way to fail")]

use std::fs;
use std::time::{Duration, Instant};

use nandle_model::library::{self, Model, ModelError, ModelKind};

#[test]
fn every_model_is_known_by_its_file_and_builds_in_milliseconds() {
    for name in library::names() {
        let model = Model::named(name).unwrap();
        assert_eq!(model.name(), name);
        assert!(!model.description().is_empty() && model.toml().contains(model.description()));
        let start = Instant::now();
        let facts = model.facts().unwrap();
        assert!(start.elapsed() < Duration::from_millis(500), "{name} took {:?}", start.elapsed());
        assert!(facts.capacity_bytes >= 2_000_000_000, "{name}: {facts:?}");
        assert_eq!(facts.capacity_bytes % facts.logical_block_bytes, 0, "{name}");
    }
}

#[test]
fn a_mirrored_array_of_disks_holds_half_of_them() {
    let array = Model::named("regola-raid10").unwrap();
    let (whole, one) = (array.facts().unwrap(), Model::named("wd2003fyys").unwrap().facts().unwrap());
    assert_eq!(array.kind(), ModelKind::Array);
    assert!(whole.rotational && !array.device().unwrap().shape.discards);
    assert_eq!(whole.capacity_bytes, one.capacity_bytes / 262_144 * 262_144 * 5);
}

#[test]
fn an_unknown_name_is_refused_with_the_nearest_one() {
    for (wrong, right) in [("x25-m-g1", "x25-m-g2"), ("mtron16", "mtron-16"), ("regola", "regola-raid10")] {
        let error = Model::named(wrong).unwrap_err();
        assert!(matches!(error, ModelError::Unknown { nearest, .. } if nearest == Some(right)), "{error}");
    }
}

#[test]
fn ones_own_files_are_loaded_with_their_members_beside_them() {
    let folder = tempfile::tempdir().unwrap();
    let disk = library::toml_of("savvio-15k")
        .unwrap()
        .replace("rotations_per_minute = 15000", "rotations_per_minute = 12000");
    fs::write(folder.path().join("mine.toml"), disk).unwrap();
    let array = library::toml_of("x25-e-4-1ctl").unwrap();
    let members = r#""x25-e-64", "x25-e-64", "x25-e-64", "x25-e-64""#;
    let mixed = array.replace(members, r#""mine.toml", "x25-e-64""#);
    let path = folder.path().join("array.toml");
    fs::write(&path, &mixed).unwrap();
    let model = Model::from_path(&path).unwrap();
    assert!(model.facts().unwrap().rotational);
    for (wrong, said) in [
        (mixed.replace("mine.toml", "x25-m-4"), "\"x25-m-4\" is an array"),
        (mixed.replace("mine.toml", "array.toml"), "\"array.toml\" is an array"),
        (mixed.replace("mine.toml", "gone.toml"), "gone.toml"),
        (mixed.replace("65_536", "1"), "nearest right value is 512"),
        (mixed.replace("command_ns", "comand_ns"), "comand_ns"),
        (mixed.replace("\"array\"", "\"arry\""), "expected one of `flash`, `disk`, `array`"),
        (mixed.replace("kind = \"array\"", ""), "missing field `kind`"),
    ] {
        fs::write(&path, wrong).unwrap();
        let error = Model::from_path(&path).unwrap_err().to_string();
        assert!(error.contains(said) && error.contains(".toml"), "{said}: {error}");
    }
    assert!(matches!(Model::from_path(&folder.path().join("none.toml")), Err(ModelError::Read { .. })));
}

/// No data sheet describes how a page map cleans: each such figure is marked as seen, fitted,
/// assumed or another drive's.
#[test]
fn parameters_of_cleaning_say_where_they_come_from() {
    const MARKS: [&str; 4] = ["seen", "fitted", "assumed", "like the"];
    let keys = ["victim", "separation", "low_free_superblocks", "pace", "spare_superblocks", "map_memory"];
    for name in library::names() {
        let model = Model::named(name).unwrap();
        let mut above = String::new();
        for line in model.toml().lines() {
            let key = line.split_once(" = ").map_or("", |(key, _)| key.trim());
            let comment = line.split_once('#').map_or("", |(_, comment)| comment);
            let said = format!("{above} {comment}").to_lowercase();
            let is_marked = MARKS.iter().any(|mark| said.contains(mark));
            assert!(!keys.contains(&key) || is_marked, "{name}: {line}");
            above = if line.starts_with('#') { said } else { String::new() };
        }
    }
}
