//! Files in directories named by column values.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch};

use crate::support::{Place, answer, figures, plan, set_reads, sorted, with_pages, write};

/// Writes a file with numbers from `first` on.
fn add(place: &Place, name: &str, first: i64) {
    let path = place.path(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let numbers = (first..first + 100).collect::<Int64Array>();
    let rows = RecordBatch::try_from_iter([("id", Arc::new(numbers) as ArrayRef)]).unwrap();
    write(&path, &rows, &with_pages());
}

fn place() -> Place {
    let place = Place::new();
    add(&place, "days/year=2007/place=San%20Jos%C3%A9/day=2007-01-31/a.parquet", 0);
    add(&place, "days/year=2008/place=a%2Fb/day=2008-02-29/a.parquet", 100);
    add(&place, "days/year=2008/place=a%2Fb/day=2008-02-29/b.parquet", 200);
    add(&place, "days/year=2008/place=__HIVE_DEFAULT_PARTITION__/day=2008-03-01/a.parquet", 300);
    place
}

#[test]
fn directories_are_columns() {
    let place = place();
    let engine = place.engine(&["days"]);
    for way in ["flexible", "whole-group", "engine"] {
        set_reads(&engine, way);
        assert_eq!(
            sorted(
                &engine,
                "SELECT year, place, day, count(*) AS n, min(id) AS first FROM days GROUP BY 1, 2, 3"
            ),
            [
                r#"{"year":2007,"place":"San José","day":"2007-01-31","n":100,"first":0}"#,
                r#"{"year":2008,"day":"2008-03-01","n":100,"first":300}"#,
                r#"{"year":2008,"place":"a/b","day":"2008-02-29","n":200,"first":100}"#,
            ],
            "{way}"
        );
        let counted = "SELECT count(*) AS n, count(place) AS p, count(year) AS y, max(day) AS d, min(year) AS f FROM days";
        assert_eq!(
            answer(&engine, counted).unwrap(),
            [r#"{"n":400,"p":300,"y":400,"d":"2008-03-01","f":2007}"#]
        );
        for (filter, rows) in [
            ("year = 2007", 100),
            ("year > 2007 AND id < 150", 50),
            ("place IS NULL", 100),
            ("place = 'a/b'", 200),
            ("day >= DATE '2008-02-29' AND place IS NOT NULL", 200),
            ("year = 2009", 0),
        ] {
            let counted = answer(&engine, &format!("SELECT count(id) AS n FROM days WHERE {filter}"));
            assert_eq!(counted.unwrap(), [format!(r#"{{"n":{rows}}}"#)], "{way}: {filter}");
        }
    }
}

#[test]
fn directories_that_can_not_match_are_not_read() {
    let place = place();
    let engine = place.engine(&["days"]);
    for (filter, read) in
        [("year = 2007", "1 of 4"), ("day = DATE '2008-02-29'", "2 of 4"), ("place IS NULL", "1 of 4")]
    {
        let plan = plan(&engine, &format!("EXPLAIN FORMAT INDENT SELECT id FROM days WHERE {filter}"));
        assert_eq!(figures(&plan, "row_groups"), [read], "{filter}: {plan}");
    }
}

#[test]
fn a_directory_comes_before_a_column_of_its_name() {
    let place = Place::new();
    add(&place, "rows/id=7/a.parquet", 0);
    let engine = place.engine(&["rows"]);
    assert_eq!(
        answer(&engine, "SELECT id, count(*) AS n FROM rows GROUP BY 1").unwrap(),
        [r#"{"id":7,"n":100}"#]
    );
}

#[test]
fn what_does_not_fit_together_is_named() {
    let place = place();
    add(&place, "days/year=2009/c.parquet", 0);
    let error = place.add(&place.engine(&[]), "days").unwrap_err().to_string();
    assert!(error.contains("c.parquet") && error.contains("year, place, day"), "{error}");
    let text = arrow_array::StringArray::from(vec!["x"]);
    let other = RecordBatch::try_from_iter([("id", Arc::new(text) as ArrayRef)]).unwrap();
    std::fs::remove_dir_all(place.path("days/year=2009")).unwrap();
    write(&place.path("days/year=2008/place=a%2Fb/day=2008-02-29/c.parquet"), &other, &with_pages());
    let error = place.add(&place.engine(&[]), "days").unwrap_err().to_string();
    assert!(error.contains("`id`") && error.contains("c.parquet"), "{error}");
}
