//! Whole numbers that don't fit their types are errors, by sums as well, which DuckDB makes of a wider type.

use crate::support::{Place, answer};

const MOST: &str = "(VALUES (1, 9223372036854775807), (1, 9223372036854775807), (1, -9223372036854775807), (2, 5), (2, NULL)) AS t(g, a)";

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
}

#[test]
fn operators_of_whole_numbers_keep_their_names() {
    let place = Place::with_files();
    let engine = place.engine(&["rows"]);
    let rows = answer(&engine, "SELECT max(id) + 1, -min(id) FROM rows").unwrap();
    assert_eq!(rows.len(), 1);
    assert!(rows[0].contains("max(rows.id) + Int64(1)"), "{rows:?}");
}
