//! Joins that exceed the memory.

use std::num::NonZeroUsize;

use nandle_engine::{Engine, EngineOptions, Format, RowWriter};

use crate::support::{Place, answer, plan, with_pages};

/// Too little memory for hash joins of these rows.
const MEMORY_BYTES: [u64; 2] = [14 << 20, 18 << 20];

/// Checks the rows of a query with this memory. Returns true if its joins spilled.
fn spills(place: &Place, query: &str, memory_bytes: u64, expected: &[String]) -> bool {
    let engine = place.engine_in(memory_bytes, &["rows.parquet"]);
    let statement = engine.parse(query).unwrap().remove(0).unwrap();
    let mut rows = engine.run(&statement).unwrap();
    let mut batches = Vec::new();
    while let Some(batch) = rows.next_batch(&|| false).unwrap_or_else(|error| panic!("{query}: {error}")) {
        batches.push(batch);
    }
    let mut text = Vec::new();
    let mut writer = RowWriter::new(&mut text, Format::Json, rows.schema()).unwrap();
    for batch in &batches {
        writer.write(batch).unwrap();
    }
    writer.finish().unwrap();
    assert_eq!(String::from_utf8(text).unwrap().lines().collect::<Vec<_>>(), expected, "{query}");
    let spills = rows.spills_joins() && rows.spilled_bytes() > 0;
    drop(rows);
    assert_eq!(engine.spilled_bytes(), 0, "{query}");
    spills
}

/// `DataFusion`'s hash joins hold all rows of one side.
#[test]
fn joins_that_do_not_fit_the_memory_write_their_rows_to_files() {
    let place = Place::new();
    place.write("rows.parquet", 0, 60_000, &with_pages());
    for query in [
        "SELECT count(*) AS n, sum(a.amount) AS amount FROM rows a JOIN rows b ON a.note = b.note AND a.id = b.id",
        "SELECT a.id, b.note FROM rows a LEFT JOIN rows b ON a.note = b.note ORDER BY a.id, b.note LIMIT 500",
        "SELECT count(*) AS n, sum(a.id) AS ids FROM rows a RIGHT JOIN rows b ON a.note = b.note AND a.id <= b.id + 3",
        "SELECT count(*) AS n, count(a.id) AS a, count(b.id) AS b, sum(a.id + b.id) AS ids FROM rows a FULL JOIN rows b ON a.note = b.note AND a.id = b.id + 1",
        "SELECT count(*) AS n, sum(a.id + b.id) AS ids FROM rows a JOIN rows b ON a.note = b.note AND a.id <= b.id + 3",
        "SELECT a.id, b.note FROM rows a LEFT JOIN rows b ON a.note = b.note AND a.id < b.id + 3 ORDER BY a.id, b.note, b.id LIMIT 500",
        "SELECT count(*) AS n, sum(a.id) AS ids FROM rows a WHERE EXISTS (SELECT 1 FROM rows b WHERE b.note = a.note AND b.amount <> a.amount)",
        "SELECT count(*) AS n, sum(a.id) AS ids FROM rows a WHERE NOT EXISTS (SELECT 1 FROM rows b WHERE b.note = a.note AND b.amount <> a.amount + 1)",
        "SELECT count(*) AS n, sum(a.id) AS ids FROM rows a WHERE a.id < 5 OR EXISTS (SELECT 1 FROM rows b WHERE b.note = a.note AND b.amount = a.amount)",
    ] {
        let expected = answer(&place.engine_in(1 << 30, &["rows.parquet"]), query).unwrap();
        let spilled = MEMORY_BYTES.map(|memory_bytes| spills(&place, query, memory_bytes, &expected));
        assert!(spilled.contains(&true), "{query}: no memory is too small for a hash join");
    }
}

/// A key with too many rows to divide is joined in memory in the end.
#[test]
fn rows_with_one_key_are_divided_no_further() {
    let place = Place::new();
    place.write("rows.parquet", 0, 60_000, &with_pages());
    let query = "SELECT count(*) AS n, sum(a.id) AS ids FROM rows b JOIN rows a ON CASE WHEN a.id < 4000 THEN 'one' ELSE a.note END = b.note || b.id";
    let expected = answer(&place.engine_in(1 << 30, &["rows.parquet"]), query).unwrap();
    for memory_bytes in MEMORY_BYTES {
        spills(&place, query, memory_bytes, &expected);
    }
}

/// A join gathers all rows of a key on one side. If most rows of the left side have one key, but
/// few of the right side, it should gather the right side.
#[test]
fn rows_of_one_key_are_gathered_on_the_side_that_has_few() {
    let place = Place::new();
    place.write("rows.parquet", 0, 60_000, &with_pages());
    let many = "(SELECT CASE WHEN id % 10 < 7 THEN 'one' ELSE note END AS key, id, lpad(CAST(id AS VARCHAR), 300, 'x') AS payload FROM rows)";
    let few = "(SELECT CASE WHEN id < 2 THEN 'one' ELSE note END AS key, id, lpad(CAST(id AS VARCHAR), 90, 'x') AS payload FROM rows)";
    let counted = "count(*) AS n, count(a.key) AS keys, count(b.key) AS others, sum(a.id) AS a, sum(b.id) AS b, max(a.payload) AS one, min(b.payload) AS other";
    let joins = ["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"].into_iter().flat_map(|join| {
        [(many, few), (few, many)].map(|(left, right)| {
            format!("SELECT {counted} FROM {left} a {join} {right} b ON a.key = b.key AND a.id + b.id <> 77")
        })
    });
    let filters = ["EXISTS", "NOT EXISTS", "a.id < 5 OR EXISTS"].into_iter().flat_map(|filter| {
        [(many, few), (few, many)].map(|(left, right)| {
            format!(
                "SELECT count(*) AS n, sum(a.id) AS ids, max(a.payload) AS one FROM {left} a \
                 WHERE {filter} (SELECT 1 FROM {right} b WHERE a.key = b.key AND a.payload <> b.payload)"
            )
        })
    });
    for query in joins.chain(filters) {
        let expected = answer(&place.engine_in(1 << 30, &["rows.parquet"]), &query).unwrap();
        assert!(spills(&place, &query, 20 << 20, &expected), "{query}");
    }
}

#[test]
fn explain_analyze_says_what_dividing_and_joining_took() {
    let place = Place::new();
    place.write("rows.parquet", 0, 60_000, &with_pages());
    let query = "EXPLAIN ANALYZE SELECT count(*), max(b.note) FROM rows a JOIN rows b ON a.note = b.note AND a.id = b.id";
    let plans =
        MEMORY_BYTES.map(|memory_bytes| plan(&place.engine_in(memory_bytes, &["rows.parquet"]), query));
    let joins: Vec<&str> = plans
        .iter()
        .flat_map(|plan| plan.lines())
        .filter(|line| line.contains("GraceHashJoinExec"))
        .collect();
    assert!(!joins.is_empty(), "{plans:?}");
    for join in joins {
        for figure in [
            "build_time",
            "join_time",
            "dividing_time",
            "restoring_time",
            "divisions",
            "joins",
            "spilled_bytes",
            "output_batches",
        ] {
            assert!(join.contains(&format!("{figure}=")), "{figure} is missing in {join}");
            assert!(!join.contains(&format!("{figure}=0,")), "{join}");
        }
        for figure in ["build_input_rows=60.00 K", " input_rows=60.00 K", "output_rows=53.33 K"] {
            assert!(join.contains(figure), "{figure} is missing in {join}");
        }
    }
}

/// Rows with null keys have no match. They may be most of a side, and outer joins return all of
/// them.
#[test]
fn rows_without_a_key_are_divided_like_others() {
    let place = Place::new();
    place.write("rows.parquet", 0, 60_000, &with_pages());
    let keys = "(SELECT CASE WHEN id % 10 < 9 THEN NULL ELSE id END AS key, id, lpad(CAST(id AS VARCHAR), 150, 'x') AS payload FROM rows)";
    let query = format!(
        "SELECT count(*) AS n, count(a.key) AS keys, sum(a.id) AS a, sum(b.id) AS b, max(a.payload) AS one, max(b.payload) AS other \
         FROM {keys} a FULL JOIN {keys} b ON a.key = b.key"
    );
    let expected = answer(&place.engine_in(1 << 30, &["rows.parquet"]), &query).unwrap();
    for mebibytes in [16, 24] {
        assert!(spills(&place, &query, mebibytes << 20, &expected), "{mebibytes}");
    }
}

/// The hash table of narrow rows is several times as large as the rows.
#[test]
fn a_side_of_narrow_rows_is_divided_before_its_table_is_too_large() {
    let place = Place::new();
    place.write("rows.parquet", 0, 180_000, &with_pages());
    // Dense numbers would need no hash table.
    let keys = "(SELECT arrow_cast(id * 1000003 % 2147483647, 'Int32') AS key FROM rows)";
    let query =
        &format!("SELECT count(*) AS n, sum(a.key) AS keys FROM {keys} a JOIN {keys} b ON a.key = b.key");
    let expected = answer(&place.engine_in(1 << 30, &["rows.parquet"]), query).unwrap();
    // With the larger memories, it depends on timing whether the engine's own join fits.
    let spilled = [12, 13, 14].map(|mebibytes| spills(&place, query, mebibytes << 20, &expected));
    assert!(spilled.contains(&true));
}

/// With one thread, a join's plan keeps the gathered rows; the second run must not hold those of
/// the first.
#[test]
fn what_the_first_run_held_is_gone_in_the_second() {
    let memory_bytes = 16 << 20;
    let place = Place::new();
    place.write("rows.parquet", 0, 60_000, &with_pages());
    let options = EngineOptions { threads: NonZeroUsize::MIN, ..place.options(memory_bytes) };
    let engine = Engine::new(&options).unwrap();
    place.add(&engine, "rows.parquet").unwrap();
    let query = "SELECT a.id, a.amount, c.note FROM rows a JOIN rows b ON a.note = b.note AND a.id = b.id \
                 JOIN rows c ON b.note = c.note AND b.id = c.id";
    let statement = engine.parse(query).unwrap().remove(0).unwrap();
    let mut rows = engine.run(&statement).unwrap();
    assert!(rows.next_batch(&|| false).unwrap().is_some());
    assert!(rows.spills_joins());
    // One side of the first join takes more than half of the memory, with its table and the copy.
    engine.hold("half of the memory").grow(usize::try_from(memory_bytes / 2).unwrap()).unwrap();
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
