//! Damaged files, changing files, and unsupported statements.

use std::collections::BTreeSet;

use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaDataReader, RowGroupMetaData};

use crate::support::{Place, answer, rows, sorted, with_pages, write};

#[test]
fn damage_of_a_table_is_named_wherever_it_is() {
    let place = Place::new();
    place.add_table("loaded");
    let engine = place.engine(&["loaded"]);
    let query = "SELECT id, airport, note, amount, day FROM loaded";
    let expected = sorted(&engine, query);
    let names = std::fs::read_dir(place.path("loaded/data")).unwrap().map(|entry| entry.unwrap().path());
    let mut places = BTreeSet::new();
    for file in names.filter(|path| path.extension().is_some_and(|end| end == "parquet")) {
        let sound = std::fs::read(&file).unwrap();
        // The partial block at the end of a file has been in memory since it was opened.
        let whole = sound.len() / 4096 * 4096;
        for at in (4..data_bytes(&sound).min(whole)).step_by(4096) {
            let mut damaged = sound.clone();
            damaged[at] ^= 1;
            std::fs::write(&file, &damaged).unwrap();
            let error = answer(&engine, query).unwrap_err().to_string();
            let name = file.file_name().unwrap().to_str().unwrap();
            assert!(
                error.contains(&format!("{name}`, row group")) && error.contains("column"),
                "{at}: {error}"
            );
            places.insert(error);
        }
        std::fs::write(&file, &sound).unwrap();
    }
    assert!(places.len() > 5, "{places:?}");
    assert!(sorted(&engine, query) == expected, "an error leaves nothing behind");
}

/// Returns the end of the column chunks; page indexes and the footer follow.
fn data_bytes(file: &[u8]) -> usize {
    let metadata =
        ParquetMetaDataReader::new().parse_and_finish(&bytes::Bytes::copy_from_slice(file)).unwrap();
    let chunks = metadata.row_groups().iter().flat_map(RowGroupMetaData::columns);
    usize::try_from(chunks.map(|chunk| chunk.byte_range().0 + chunk.byte_range().1).max().unwrap()).unwrap()
}

/// Returns the column with pages at an offset.
fn column_at(file: &[u8], at: usize) -> String {
    let metadata =
        ParquetMetaDataReader::new().parse_and_finish(&bytes::Bytes::copy_from_slice(file)).unwrap();
    let mut chunks = metadata.row_groups().iter().flat_map(RowGroupMetaData::columns);
    let is_there = |chunk: &&ColumnChunkMetaData| {
        let (start, length) = chunk.byte_range();
        (start..start + length).contains(&u64::try_from(at).unwrap())
    };
    chunks.find(is_there).unwrap().column_path().string()
}

#[test]
fn pages_that_can_not_be_decoded_are_named() {
    let place = Place::new();
    write(&place.path("rows.parquet"), &rows(0, 5000), &with_pages());
    let path = place.path("rows.parquet");
    let sound = std::fs::read(&path).unwrap();
    let mut failures = 0;
    for at in (4..data_bytes(&sound) - 64).step_by(7919) {
        let mut damaged = sound.clone();
        damaged[at..at + 64].fill(0xff);
        std::fs::write(&path, &damaged).unwrap();
        let engine = place.engine(&["rows.parquet"]);
        // Without checksums, damage of a value is visible only in the value.
        if let Err(error) = answer(&engine, "SELECT * FROM rows") {
            failures += 1;
            let text = error.to_string();
            let column = column_at(&sound, at);
            assert!(text.contains("rows.parquet") && text.contains("row group"), "{at}: {text}");
            assert!(text.contains(&format!("column `{column}`")), "{at} in {column}: {text}");
        }
    }
    assert!(failures > 3, "{failures}");
}

#[test]
fn files_that_are_no_parquet_are_refused() {
    let place = Place::new();
    write(&place.path("rows.parquet"), &rows(0, 500), &with_pages());
    let sound = std::fs::read(place.path("rows.parquet")).unwrap();
    let engine = place.engine(&[]);
    for length in [0, 3, 11, 100, sound.len() / 2, sound.len() - 1] {
        std::fs::write(place.path("cut.parquet"), &sound[..length]).unwrap();
        let error = place.add(&engine, "cut.parquet").unwrap_err().to_string();
        assert!(error.contains("cut.parquet"), "{length}: {error}");
    }
    std::fs::write(place.path("foreign.parquet"), [7; 5000]).unwrap();
    let error = place.add(&engine, "foreign.parquet").unwrap_err().to_string();
    assert!(error.contains("foreign.parquet"), "{error}");
}

#[test]
fn files_that_change_are_opened_anew() {
    let place = Place::new();
    write(&place.path("rows.parquet"), &rows(0, 500), &with_pages());
    let engine = place.engine(&["rows.parquet"]);
    let count = || answer(&engine, "SELECT count(*) AS n, max(id) AS m FROM rows WHERE id >= 0");
    assert_eq!(count().unwrap(), [r#"{"n":500,"m":499}"#]);
    write(&place.path("rows.parquet"), &rows(0, 700), &with_pages());
    assert_eq!(count().unwrap(), [r#"{"n":700,"m":699}"#]);
    let other = rows(0, 300).project(&[0, 1]).unwrap();
    write(&place.path("rows.parquet"), &other, &with_pages());
    assert_eq!(count().unwrap(), [r#"{"n":300,"m":299}"#], "it has fewer columns");
    assert!(answer(&engine, "SELECT note FROM rows").unwrap_err().to_string().contains("note"));
    std::fs::remove_file(place.path("rows.parquet")).unwrap();
    let error = count().unwrap_err().to_string();
    assert!(error.contains("rows.parquet"), "{error}");
}

#[test]
fn files_that_come_and_go_are_found() {
    let place = Place::with_files();
    let engine = place.engine(&["rows"]);
    let pattern = format!("some={}", place.path("rows/[0-9].parquet").display());
    engine.add_table(&nandle_engine::Source::find(&pattern).unwrap(), &crate::support::pricing()).unwrap();
    let counts = || {
        let count = |table: &str| {
            answer(&engine, &format!("SELECT count(note) + count(*) AS n FROM {table} WHERE id >= 0"))
        };
        (count("rows").map(|rows| rows.concat()), count("some").map(|rows| rows.concat()))
    };
    let both = |expected: &str| {
        let (rows, some) = counts();
        assert_eq!((rows.unwrap().as_str(), some.unwrap().as_str()), (expected, expected));
    };
    both(r#"{"n":15490}"#);
    place.write("rows/4.parquet", 90_001, 8, &with_pages());
    both(r#"{"n":15506}"#);
    for file in ["1", "3", "4"] {
        std::fs::remove_file(place.path(&format!("rows/{file}.parquet"))).unwrap();
    }
    both(r#"{"n":10767}"#);
    std::fs::remove_dir_all(place.path("rows")).unwrap();
    let (rows, some) = counts();
    assert!(
        rows.unwrap_err().to_string().contains("rows")
            && some.unwrap_err().to_string().contains("[0-9].parquet")
    );
}

#[test]
fn statements_that_can_not_be_are_told() {
    let place = Place::with_files();
    let engine = place.engine(&["rows"]);
    let error = |statement: &str| answer(&engine, statement).unwrap_err().to_string();
    for (statement, part) in [
        ("SELEC 1", "SELEC"),
        ("SELECT * FROM nowhere", "nowhere"),
        ("SELECT nothing FROM rows", "nothing"),
        ("SELECT CAST(note AS INT) FROM rows", "note"),
        ("SELECT 1 / (id - id) FROM rows", "zero"),
        ("SET nandle.reads = 'page-cache'", "flexible"),
        ("SET nandle.write = 'x'", "write"),
        ("COPY (SELECT 1) TO 'x.parquet'", "COPY"),
        ("EXPLAIN ANALYZE COPY (SELECT 1) TO 'x.parquet' STORED AS PARQUET", "COPY"),
        ("CREATE EXTERNAL TABLE t STORED AS PARQUET LOCATION '/tmp'", "EXTERNAL"),
        ("CREATE TABLE t AS SELECT * FROM rows", "CREATE VIEW"),
        ("INSERT INTO rows SELECT * FROM rows", "nandle table load"),
        ("SELECT id FROM rows EXCEPT ALL SELECT 1", "EXCEPT ALL"),
        ("SELECT id FROM rows INTERSECT /* all of them */ ALL SELECT 1", "INTERSECT ALL"),
    ] {
        let text = error(statement);
        assert!(text.contains(part), "{statement}: {text}");
    }
    let deep = format!("SELECT {}1{}", "(".repeat(10_000), ")".repeat(10_000));
    assert!(!error(&deep).is_empty());
    let long = format!("SELECT 1{}", " + 1".repeat(30_000));
    assert!(error(&long).contains("60001 deep"), "{}", error(&long));
    let list: Vec<String> = (0..10_000).map(|id| id.to_string()).collect();
    let counted =
        answer(&engine, &format!("SELECT count(*) AS n FROM rows WHERE id IN ({})", list.join(",")));
    assert_eq!(counted.unwrap(), [r#"{"n":3500}"#]);
}

#[test]
fn names_that_there_are_not_have_a_place_and_a_nearest_one() {
    let place = Place::with_files();
    let engine = place.engine(&["rows"]);
    for (statement, parts, (line, column)) in [
        ("SELECT *\nFROM roes", &["'nandle.public.roes' not found", "did you mean `rows`?"][..], (2, 6)),
        ("SELECT id FROM rows; SELECT * FROM passengers", &["passengers", "there are: rows"], (1, 36)),
        ("SELECT id,\n  nott FROM rows", &["nott", "note"], (2, 3)),
    ] {
        let error = answer(&engine, statement).unwrap_err();
        let text = error.to_string();
        assert!(parts.iter().all(|part| text.contains(part)), "{statement}: {text}");
        let found = error.place().map(|place| (place.line, place.column));
        assert_eq!(found, Some((line, column)), "{statement}: {text}");
    }
}

#[test]
fn chains_up_to_the_bound_have_room_on_the_stack() {
    let deep = || {
        let place = Place::with_files();
        let engine = place.engine(&["rows"]);
        let chain = format!("SELECT 0{} AS n", " + 1".repeat(490));
        assert_eq!(answer(&engine, &chain).unwrap(), [r#"{"n":490}"#]);
        let chain = format!("SELECT count(*) AS n FROM rows WHERE id = 1{}", " OR id + 1 = 2".repeat(190));
        assert_eq!(answer(&engine, &chain).unwrap(), [r#"{"n":1}"#]);
        let unions = format!("SELECT count(*) AS n FROM (SELECT 1{})", " UNION ALL SELECT 1".repeat(300));
        assert_eq!(answer(&engine, &unions).unwrap(), [r#"{"n":301}"#]);
    };
    let thread = std::thread::Builder::new().stack_size(nandle_engine::STACK_BYTES).spawn(deep);
    thread.unwrap().join().unwrap();
}
