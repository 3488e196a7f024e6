//! Joins whose rows don't fit the memory.

use nandle_engine::{ErrorKind, Format, RowWriter};

use crate::support::{Place, answer, with_pages};

/// Whether the query ended in so much memory, and by sorting.
fn sorting(place: &Place, query: &str, memory_bytes: u64, expected: &[String]) -> bool {
    let engine = place.engine_in(memory_bytes, &["rows.parquet"]);
    let statement = engine.parse(query).unwrap().remove(0).unwrap();
    let mut rows = engine.run(&statement).unwrap();
    let mut batches = Vec::new();
    loop {
        match rows.next_batch(&|| false) {
            Ok(Some(batch)) => batches.push(batch),
            Ok(None) => break,
            Err(error) if error.kind() == ErrorKind::OutOfMemory => return false,
            Err(error) => panic!("{query}: {error}"),
        }
    }
    let mut text = Vec::new();
    let mut writer = RowWriter::new(&mut text, Format::Json, rows.schema()).unwrap();
    for batch in &batches {
        writer.write(batch).unwrap();
    }
    writer.finish().unwrap();
    assert_eq!(String::from_utf8(text).unwrap().lines().collect::<Vec<_>>(), expected, "{query}");
    rows.sorts_for_joins()
}

/// `DataFusion`'s hash joins hold all rows of one side.
#[test]
fn joins_that_do_not_fit_the_memory_sort_their_rows() {
    let place = Place::new();
    place.write("rows.parquet", 0, 60_000, &with_pages());
    for query in [
        "SELECT count(*) AS n, sum(a.amount) AS amount FROM rows a JOIN rows b ON a.note = b.note AND a.id = b.id",
        "SELECT a.id, b.note FROM rows a LEFT JOIN rows b ON a.note = b.note ORDER BY a.id, b.note LIMIT 500",
        "SELECT count(*) AS n, sum(a.id + b.id) AS ids FROM rows a JOIN rows b ON a.note = b.note AND a.id <= b.id + 3",
        "SELECT count(*) AS n, sum(a.id) AS ids FROM rows a WHERE EXISTS (SELECT 1 FROM rows b WHERE b.note = a.note AND b.amount <> a.amount)",
        "SELECT count(*) AS n, sum(a.id) AS ids FROM rows a WHERE NOT EXISTS (SELECT 1 FROM rows b WHERE b.note = a.note AND b.amount <> a.amount + 1)",
    ] {
        let expected = answer(&place.engine_in(1 << 30, &["rows.parquet"]), query).unwrap();
        // How much the operators need beside what they write to files is theirs.
        let ended = [14, 16, 18, 20, 22].map(|mebibytes| sorting(&place, query, mebibytes << 20, &expected));
        assert!(
            ended.contains(&true),
            "{query}: no memory is too small for a hash join and enough for a sort"
        );
    }
}

#[test]
fn joins_that_can_not_be_had_sorted_stay_without_memory() {
    let place = Place::new();
    place.write("rows.parquet", 0, 60_000, &with_pages());
    let small = place.engine_in(14 << 20, &["rows.parquet"]);
    let query = "SELECT a.id, b.note FROM rows a LEFT JOIN rows b ON a.note = b.note AND a.id < b.id + 3";
    let error = answer(&small, query).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::OutOfMemory, "{error}");
    assert!(error.to_string().contains("HashJoin"), "{error}");
}

#[test]
fn a_session_that_wants_joins_sorted_has_the_same_rows() {
    let place = Place::new();
    place.write("rows.parquet", 0, 3000, &with_pages());
    let engine = place.engine(&["rows.parquet"]);
    let joins = [
        "a JOIN rows b ON a.id = b.id + 5",
        "a LEFT JOIN rows b ON a.id = b.id + 5 AND a.id % 3 < b.id % 2",
        "a RIGHT JOIN rows b ON a.id = b.id + 5 AND a.id % 3 < b.id % 2",
        "a FULL JOIN rows b ON a.id = b.id + 5 AND a.id % 3 < b.id % 2",
        "a FULL JOIN rows b ON a.note = b.note AND a.id < b.id",
        "a LEFT JOIN rows b ON a.id = b.id + 5",
    ];
    let mut statements: Vec<String> = joins
        .iter()
        .map(|join| format!("SELECT a.id AS one, b.id AS other FROM rows {join} ORDER BY 1, 2"))
        .collect();
    for filter in [
        "EXISTS (SELECT 1 FROM rows b WHERE b.id = a.id + 5 AND b.amount < a.amount)",
        "NOT EXISTS (SELECT 1 FROM rows b WHERE b.id = a.id + 5 AND b.amount < a.amount)",
        "a.id IN (SELECT b.id FROM rows b WHERE b.amount < a.amount) OR a.id = 7",
        "a.note NOT IN (SELECT b.note FROM rows b WHERE b.note IS NOT NULL AND b.id < 9)",
    ] {
        statements.push(format!("SELECT a.id FROM rows a WHERE {filter} ORDER BY 1"));
    }
    for statement in statements {
        let hashed = answer(&engine, &statement).unwrap();
        answer(&engine, "SET datafusion.optimizer.prefer_hash_join = false").unwrap();
        let sorted = answer(&engine, &statement).unwrap_or_else(|error| panic!("{statement}: {error}"));
        assert!(sorted == hashed, "{statement}");
        answer(&engine, "SET datafusion.optimizer.prefer_hash_join = true").unwrap();
    }
}
