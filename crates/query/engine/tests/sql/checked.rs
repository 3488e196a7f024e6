//! Integer overflow is an error, also in sums, which DuckDB computes in a wider type.

use crate::support::{Place, answer};

const MOST: &str = "(VALUES (1, 9223372036854775807), (1, 9223372036854775807), (1, -9223372036854775807), (2, 5), (2, NULL), (3, 2), (3, 9223372036854775806)) AS t(g, a)";

#[test]
fn sums_that_their_type_does_not_hold_are_errors() {
    let place = Place::with_files();
    let engine = place.engine(&["rows"]);
    for query in [
        format!("SELECT sum(a) FROM {MOST} WHERE a > 0"),
        format!("SELECT g, sum(a) FROM {MOST} WHERE a > 0 GROUP BY g"),
        format!("SELECT sum(a) OVER (ORDER BY a ROWS 1 PRECEDING) FROM {MOST}"),
        "SELECT sum(id * 100000000000000) FROM rows".to_owned(),
        "SELECT airport, sum(id * 100000000000000) FROM rows GROUP BY airport".to_owned(),
        format!("SELECT sum(DISTINCT a), count(*) FROM {MOST} WHERE a > 0"),
        format!("SELECT g, sum(DISTINCT a), count(*) FROM {MOST} WHERE a > 0 GROUP BY g"),
        format!("SELECT sum(DISTINCT a) OVER (ORDER BY a ROWS 1 PRECEDING) FROM {MOST}"),
    ] {
        let error = answer(&engine, &query).unwrap_err().to_string();
        assert!(error.contains("larger than Int64 holds"), "{query}: {error}");
    }
}

#[test]
fn what_is_passed_on_the_way_to_a_sum_needs_no_room() {
    let place = Place::with_files();
    let engine = place.engine(&["rows"]);
    let sum = |query: &str| answer(&engine, query).unwrap();
    let query = format!("SELECT sum(a) AS s FROM {MOST} WHERE g = 1");
    assert_eq!(sum(&query), [r#"{"s":9223372036854775807}"#]);
    let query = format!("SELECT g, sum(a) AS s FROM {MOST} WHERE g < 3 GROUP BY g ORDER BY g");
    assert_eq!(sum(&query), [r#"{"g":1,"s":9223372036854775807}"#, r#"{"g":2,"s":5}"#]);
    let query = format!("SELECT sum(DISTINCT a) AS s, count(*) AS n FROM {MOST} WHERE g < 3");
    assert_eq!(sum(&query), [r#"{"s":5,"n":5}"#]);
}

/// Aggregation passes rows on if groups hardly reduce them.
#[test]
fn sums_of_filtered_rows_in_many_groups_are_right() {
    let place = Place::with_files();
    let engine = place.engine(&["rows"]);
    for filter in ["g % 3 = 0", "nullif(g % 3, 1) = 0"] {
        let query = format!(
            "SELECT count(s) AS n, sum(s) AS s FROM (SELECT g, sum(g) FILTER (WHERE {filter}) AS s FROM generate_series(1, 600000) AS t(g) GROUP BY g)"
        );
        assert_eq!(answer(&engine, &query).unwrap(), [r#"{"n":200000,"s":60000300000}"#], "{filter}");
    }
}

#[test]
fn sets_of_groupings_may_be_of_arithmetic() {
    let place = Place::with_files();
    let engine = place.engine(&["rows"]);
    let table = "(VALUES (1), (1), (2)) AS t(a)";
    for (sets, expected) in [
        ("ROLLUP (a + 1)", vec![r#"{"n":1}"#, r#"{"n":2}"#, r#"{"n":3}"#]),
        ("CUBE (a * 2, a - 1)", vec![r#"{"n":1}"#; 3]),
        ("GROUPING SETS ((a + 1), ())", vec![r#"{"n":1}"#, r#"{"n":2}"#, r#"{"n":3}"#]),
    ] {
        let rows = answer(&engine, &format!("SELECT count(*) AS n FROM {table} GROUP BY {sets} ORDER BY n"));
        let rows = rows.unwrap();
        assert_eq!(rows[..expected.len()], expected[..], "{sets}");
    }
    let query = format!("SELECT a + 1 AS b, count(*) AS n FROM {table} GROUP BY ROLLUP (a + 1) ORDER BY b");
    let rows = answer(&engine, &query).unwrap();
    assert_eq!(rows, [r#"{"b":2,"n":2}"#, r#"{"b":3,"n":1}"#, r#"{"n":3}"#]);
}

#[test]
fn operators_of_whole_numbers_keep_their_names() {
    let place = Place::with_files();
    let engine = place.engine(&["rows"]);
    let rows = answer(&engine, "SELECT max(id) + 1, -min(id) FROM rows").unwrap();
    assert_eq!(rows.len(), 1);
    assert!(rows[0].contains("max(rows.id) + Int64(1)"), "{rows:?}");
}
