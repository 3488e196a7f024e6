//! Columns with equal names, and keys of subqueries, are kept apart.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use nandle_engine::Engine;

use crate::support::{Place, answer, set_reads, sorted, with_pages, write};

fn add(place: &Place, name: &str, columns: &[(&str, Vec<Option<i64>>)]) {
    let columns = columns.iter().map(|(name, values)| {
        (*name, Arc::new(values.iter().copied().collect::<Int64Array>()) as ArrayRef, true)
    });
    write(&place.path(name), &RecordBatch::try_from_iter_with_nullable(columns).unwrap(), &with_pages());
}

/// Numbers of five kinds.
fn of_kinds() -> (Place, Engine) {
    let place = Place::new();
    let (kinds, ids) = (0..20).map(|row| (Some(row % 5), Some(row))).unzip();
    add(&place, "e.parquet", &[("p", kinds), ("id", ids)]);
    let engine = place.engine(&["e.parquet"]);
    (place, engine)
}

/// One key per kind, joined and grouped by more columns.
const GROUPED: &str = "SELECT x.p, y.id, count(*) AS n FROM (SELECT DISTINCT p FROM e) x JOIN e y ON x.p < y.p GROUP BY x.p, y.id";

#[test]
fn keys_of_a_subquery_are_not_those_of_what_is_made_of_it() {
    let (_place, engine) = of_kinds();
    let count = |what: &str| answer(&engine, &format!("SELECT count(*) AS n FROM {what}")).unwrap().remove(0);
    assert_eq!(count(&format!("({GROUPED})")), r#"{"n":40}"#);
    assert_eq!(count(&format!("(SELECT p, id, count(*) FROM ({GROUPED}) GROUP BY p, id)")), r#"{"n":40}"#);
    assert_eq!(count(&format!("(SELECT DISTINCT p FROM ({GROUPED}))")), r#"{"n":4}"#);
    assert_eq!(count(&format!("e JOIN ({GROUPED}) s ON e.p = s.p")), r#"{"n":160}"#);
    assert_eq!(count(&format!("(SELECT e.id FROM e JOIN ({GROUPED}) s ON e.p = s.p)")), r#"{"n":160}"#);
    assert_eq!(
        count(&format!("e WHERE EXISTS (SELECT 1 FROM ({GROUPED}) s WHERE s.p = e.p)")),
        r#"{"n":16}"#
    );
    let sums = sorted(&engine, &format!("WITH g AS ({GROUPED}) SELECT p, sum(n) AS s FROM g GROUP BY p"));
    let expected = [r#"{"p":0,"s":16}"#, r#"{"p":1,"s":12}"#, r#"{"p":2,"s":8}"#, r#"{"p":3,"s":4}"#];
    assert_eq!(sums, expected);
    let ordered = answer(&engine, &format!("{GROUPED} ORDER BY p, id LIMIT 3")).unwrap();
    let first = [1, 2, 3].map(|id| format!(r#"{{"p":0,"id":{id},"n":1}}"#));
    assert_eq!(ordered, first);
    let windows = "SELECT p, sum(id) OVER (ORDER BY p) AS s FROM (SELECT DISTINCT x.p, y.id FROM (SELECT DISTINCT p FROM e) x JOIN e y ON y.id < 2) ORDER BY p, s LIMIT 2";
    assert_eq!(answer(&engine, windows).unwrap(), [r#"{"p":0,"s":1}"#; 2]);
}

#[test]
fn filters_of_subqueries_still_rule_out_what_is_not_read() {
    let (_place, engine) = of_kinds();
    let query = "EXPLAIN FORMAT INDENT SELECT p FROM (SELECT p, count(*) AS n FROM e GROUP BY p) WHERE p = 3";
    let plan = crate::support::plan(&engine, query);
    assert!(plan.contains("predicate=p@0 = 3") && plan.contains("projection=[p]"), "{plan}");
}

/// A filter on a join's output applies to the correct side.
#[test]
fn a_filter_of_one_side_is_not_taken_for_one_of_the_other() {
    let place = Place::new();
    let some = |from: i64| (from..from + 60).map(|row| (row % 3 != 0).then_some(row)).collect::<Vec<_>>();
    let keys = |from: i64| (from..from + 60).map(Some).collect::<Vec<_>>();
    add(&place, "x.parquet", &[("d", keys(0)), ("s", some(0)), ("k", keys(100))]);
    add(&place, "y.parquet", &[("d", keys(20)), ("s", some(20)), ("k", keys(200))]);
    let engine = place.engine(&["x.parquet", "y.parquet"]);
    for reads in ["flexible", "engine"] {
        set_reads(&engine, reads);
        let count = |what: &str| {
            let rows =
                answer(&engine, &format!("SELECT count(*) AS n, count(s) AS s FROM ({what})")).unwrap();
            rows[0].clone()
        };
        // Of 60 rows of y, 40 have a match, 13 of them with a null s; 20 have no match, 13 of them
        // with an s. The same holds with x and y swapped.
        let right = "SELECT y.s, x.k FROM x RIGHT JOIN y ON x.d = y.d WHERE x.s IS NULL";
        assert_eq!(count(right), r#"{"n":33,"s":13}"#, "{reads}");
        let left = "SELECT x.s, y.k FROM x LEFT JOIN y ON x.d = y.d WHERE y.s IS NULL";
        assert_eq!(count(left), r#"{"n":33,"s":13}"#, "{reads}");
        let both = "SELECT x.s, y.k FROM x FULL JOIN y ON x.d = y.d WHERE coalesce(y.s, 7) < 30";
        assert_eq!(count(both), r#"{"n":47,"s":20}"#, "{reads}");
    }
}

/// A constant column of a side isn't constant after an outer join.
#[test]
fn a_value_of_a_side_is_not_that_of_all_rows_of_a_join() {
    let place = Place::new();
    let all = || (0..2000).map(Some).collect::<Vec<_>>();
    let thirds = (0..2000).map(|row| Some(row % 3)).collect::<Vec<_>>();
    add(&place, "x.parquet", &[("id", all())]);
    add(&place, "y.parquet", &[("id", all()), ("s", thirds)]);
    let engine = place.engine(&["x.parquet", "y.parquet"]);
    let ones = "(SELECT id, s FROM y WHERE s = 1) y";
    for joined in [
        format!("x LEFT JOIN {ones} ON x.id = y.id"),
        format!("{ones} RIGHT JOIN x ON x.id = y.id"),
        format!("{ones} FULL JOIN x ON x.id = y.id"),
    ] {
        let grouped = sorted(
            &engine,
            &format!("SELECT y.s, count(*) AS n FROM {joined} WHERE x.id < 1000 GROUP BY y.s"),
        );
        assert_eq!(grouped, [r#"{"n":667}"#, r#"{"s":1,"n":333}"#], "{joined}");
        let first = format!("SELECT y.s, x.id FROM {joined} ORDER BY y.s, x.id LIMIT 2");
        assert_eq!(answer(&engine, &first).unwrap(), [r#"{"s":1,"id":1}"#, r#"{"s":1,"id":4}"#], "{joined}");
    }
    let marked = "SELECT y.found, count(*) AS n FROM x LEFT JOIN (SELECT id, true AS found FROM y WHERE s = 2) y ON x.id = y.id GROUP BY y.found";
    assert_eq!(sorted(&engine, marked), [r#"{"found":true,"n":666}"#, r#"{"n":1334}"#]);
}

#[test]
fn a_value_in_two_types_is_grouped_by() {
    let (_place, engine) = of_kinds();
    let grouped =
        sorted(&engine, "SELECT CAST(p AS DOUBLE) AS x, p AS y, count(*) AS n FROM e GROUP BY 1, 2");
    assert_eq!(grouped.len(), 5);
    assert_eq!(grouped[3], r#"{"x":3.0,"y":3,"n":4}"#);
}
