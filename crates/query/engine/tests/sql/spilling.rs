//! Joins whose rows don't fit the memory.

use crate::support::{Place, answer, plan, with_pages};

/// DataFusion's hash joins hold all rows of one side.
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
        let small = place.engine_in(14 << 20, &["rows.parquet"]);
        let statement = small.parse(query).unwrap().remove(0).unwrap();
        let mut rows = small.run(&statement).unwrap();
        while rows.next_batch(&|| false).unwrap().is_some() {}
        assert!(rows.sorts_for_joins(), "{query}: it has memory enough");
        assert_eq!(answer(&small, query).unwrap(), expected, "{query}");
        let explained = plan(&small, &format!("EXPLAIN ANALYZE {query}"));
        assert!(explained.contains("SortMergeJoin"), "{explained}");
        assert_eq!(small.spilled_bytes(), 0, "nothing is left of a query that has ended");
    }
}

#[test]
fn joins_that_can_not_be_had_sorted_stay_without_memory() {
    let place = Place::new();
    place.write("rows.parquet", 0, 60_000, &with_pages());
    let small = place.engine_in(14 << 20, &["rows.parquet"]);
    let query = "SELECT a.id, b.note FROM rows a LEFT JOIN rows b ON a.note = b.note AND a.id < b.id + 3";
    let error = answer(&small, query).unwrap_err();
    assert_eq!(error.kind(), nandle_engine::ErrorKind::OutOfMemory, "{error}");
    assert!(error.to_string().contains("HashJoin"), "{error}");
}
