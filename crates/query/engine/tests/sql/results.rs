//! All read modes return the same rows.

use crate::support::{Place, answer, figures, plan, set_reads, sorted};

const WAYS: [&str; 6] =
    ["flexible", "fixed-block", "whole-group", "one-by-one:3", "one-by-one", "fixed-block:8KiB"];

const QUERIES: [&str; 16] = [
    "SELECT * FROM rows",
    "SELECT count(*) FROM rows",
    "SELECT count(*) FROM rows WHERE amount > 100",
    "SELECT id, note FROM rows WHERE id BETWEEN 1200 AND 1310",
    "SELECT id, point['x'] AS x, tags FROM rows WHERE id IN (7, 3400, 10999, 21500, 31400)",
    "SELECT point['label'] AS label FROM rows WHERE day = '2008-06-01'",
    "SELECT airport, count(*), sum(amount), min(note), max(day) FROM rows GROUP BY airport",
    "SELECT * FROM rows WHERE airport IS NULL AND amount IS NOT NULL",
    "SELECT * FROM rows WHERE id < 0",
    "SELECT id FROM rows WHERE note LIKE '%77%' OR airport = 'IAH'",
    "SELECT a.id, b.note FROM rows a JOIN rows b ON a.id = b.id + 9000 WHERE b.amount > 200",
    "SELECT * FROM rows ORDER BY id DESC LIMIT 7",
    "SELECT id, note FROM rows ORDER BY note, id LIMIT 20",
    "SELECT count(*) FROM (SELECT id FROM rows LIMIT 1234) AS some",
    "SELECT day, count(DISTINCT airport) FROM rows WHERE id >= 20000 GROUP BY day",
    "WITH late AS (SELECT * FROM rows WHERE amount > 240) SELECT count(*), sum(l.id) FROM late l, late r WHERE l.airport = r.airport",
];

#[test]
fn every_way_of_reading_gives_the_same_rows() {
    let place = Place::with_files();
    let engine = place.engine(&["rows"]);
    for query in QUERIES {
        set_reads(&engine, "engine");
        let expected = sorted(&engine, query);
        assert!(!expected.is_empty() || query.contains("id < 0"), "{query}");
        for way in WAYS {
            set_reads(&engine, way);
            let got = sorted(&engine, query);
            assert!(got == expected, "{way}: {query}: {} rows, not {}", got.len(), expected.len());
        }
    }
}

#[test]
fn plans_foresee_all_that_is_read() {
    let place = Place::with_files();
    let engine = place.engine(&["rows"]);
    for query in QUERIES {
        let plan = plan(&engine, &format!("EXPLAIN ANALYZE {query}"));
        let unplanned = figures(&plan, "unplanned");
        // Some queries are answered from statistics.
        assert!(!unplanned.is_empty() || !plan.contains("DataSourceExec"), "{query}: {plan}");
        assert!(unplanned.iter().all(|count| *count == "0"), "{query}: {plan}");
    }
}

#[test]
fn what_no_plan_foresaw_is_served_and_counted() {
    let place = Place::with_files();
    let engine = place.engine(&["rows"]);
    let query = "SELECT note FROM rows WHERE airport = 'IAH' AND id > 500";
    let expected = sorted(&engine, query);
    // With filters in the decoder, the rows whose notes are read depend on the decoded airports.
    answer(&engine, "SET datafusion.execution.parquet.pushdown_filters = true").unwrap();
    assert!(sorted(&engine, query) == expected);
    let plan = plan(&engine, &format!("EXPLAIN ANALYZE {query}"));
    assert!(figures(&plan, "unplanned").iter().any(|count| *count != "0"), "{plan}");
}

/// Dynamic filters of joins and sorts drop rows before they are moved.
#[test]
fn rows_that_nothing_can_want_are_left_out_behind_the_decoder() {
    let place = Place::with_files();
    let engine = place.engine(&["rows"]);
    for query in [
        "SELECT count(*), sum(b.id), max(b.note) FROM rows a JOIN rows b ON a.id = b.id * 2 WHERE a.amount > 240",
        "SELECT count(*), sum(b.id) FROM rows b WHERE EXISTS (SELECT 1 FROM rows a WHERE a.id = b.id * 2 AND a.amount > 240)",
        "SELECT b.id AS one, b.note AS other FROM rows b JOIN rows a ON b.note = a.note AND b.day = a.day WHERE a.amount > 240",
        "SELECT id, note FROM rows ORDER BY note DESC, id LIMIT 20",
        "SELECT b.id FROM rows b LEFT JOIN rows a ON a.id = b.id AND a.amount > 240 WHERE b.id < 5000",
    ] {
        set_reads(&engine, "flexible");
        let got = sorted(&engine, query);
        let plan = plan(&engine, &format!("EXPLAIN ANALYZE {query}"));
        let rules_some_out = figures(&plan, "ruled_out_rows").iter().any(|rows| *rows != "0");
        // Outer joins keep all rows, and the effect on sorts depends on the order of the files.
        let may_rule_none_out = query.contains("LEFT JOIN") || query.contains("ORDER BY");
        assert!(rules_some_out || may_rule_none_out, "{query}: {plan}");
        set_reads(&engine, "engine");
        assert!(got == sorted(&engine, query) && !got.is_empty(), "{query}");
    }
}

#[test]
fn tables_are_read_with_their_sums() {
    let place = Place::with_files();
    place.add_table("loaded");
    std::fs::remove_file(place.path("rows/3.parquet")).unwrap();
    let engine = place.engine(&["rows", "loaded"]);
    let columns = "id, airport, note, amount, day";
    for filter in ["true", "id BETWEEN 900 AND 2100", "airport = 'AUS' AND amount < 50"] {
        let of = |table: &str| sorted(&engine, &format!("SELECT {columns} FROM {table} WHERE {filter}"));
        let (rows, loaded) = (of("rows"), of("loaded"));
        assert!(!rows.is_empty() && rows == loaded, "{filter}");
    }
    let query = "SELECT count(*), sum(r.id) FROM rows r JOIN loaded l ON r.id = l.id WHERE l.amount > 100";
    let planned = sorted(&engine, query);
    set_reads(&engine, "engine");
    assert_eq!(planned, sorted(&engine, query));
}

#[test]
fn a_table_without_rows_has_its_columns() {
    let place = Place::new();
    place.add_empty_table("loaded");
    let engine = place.engine(&["loaded"]);
    for way in ["flexible", "engine"] {
        set_reads(&engine, way);
        assert_eq!(sorted(&engine, "SELECT count(*) AS n, sum(id) AS s FROM loaded"), [r#"{"n":0}"#]);
        assert_eq!(sorted(&engine, "SELECT note FROM loaded WHERE id > 4"), [""; 0]);
    }
}

#[test]
fn files_with_other_columns_are_one_table_with_nulls() {
    let place = Place::new();
    std::fs::create_dir(place.path("rows")).unwrap();
    let all = crate::support::rows(0, 300);
    crate::support::write(&place.path("rows/a.parquet"), &all, &crate::support::with_pages());
    let some = crate::support::rows(300, 300).project(&[3, 0]).unwrap();
    crate::support::write(&place.path("rows/b.parquet"), &some, &crate::support::with_pages());
    let engine = place.engine(&["rows"]);
    let query = "SELECT count(*), count(airport), count(amount), sum(id) FROM rows WHERE id > 10";
    let planned = sorted(&engine, query);
    set_reads(&engine, "engine");
    assert_eq!(planned, sorted(&engine, query));
    let other = arrow_array::RecordBatch::try_from_iter([("id", all.column(2).clone())]).unwrap();
    crate::support::write(&place.path("rows/c.parquet"), &other, &crate::support::with_pages());
    let error = place.add(&place.engine(&[]), "rows").unwrap_err().to_string();
    assert!(error.contains("`id`") && error.contains("c.parquet") && error.contains("Utf8"), "{error}");
}
