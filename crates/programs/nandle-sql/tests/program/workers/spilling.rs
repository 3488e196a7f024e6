//! Joins on workers that exceed their memory.

use crate::place::Place;

use super::data::write;
use super::fleet::{Worker, urls};

/// Rows of 100 bytes, in several files.
fn wide_rows() -> Place {
    let place = Place::new();
    std::fs::create_dir(place.path("rows")).unwrap();
    for part in 0..4 {
        let (first, last) = (part * 20_000 + 1, (part + 1) * 20_000);
        let rows = format!(
            "SELECT value AS id, value * 7919 % 80000 AS other, lpad(CAST(value AS VARCHAR), 100, 'x') AS note FROM generate_series({first}, {last})"
        );
        write(&place, &rows, &format!("rows/{part}.parquet"));
    }
    place
}

#[test]
fn rows_of_joins_are_written_to_files_where_they_do_not_fit_a_worker() {
    let place = wide_rows();
    // Each has less than a side of the join takes, but more than the least share.
    let small = ["rows", "--memory", "20MiB", "--threads", "1"];
    let workers = [Worker::start(&place, &small), Worker::start(&place, &small)];
    let urls = urls(&workers);
    let there = ["--workers", &urls, "--distribute-above", "0ms"];
    for query in [
        "SELECT count(*), sum(a.id + b.other), max(a.note), min(b.note) FROM rows a JOIN rows b ON a.note = b.note AND a.id = b.id",
        "SELECT count(*), count(b.id), max(a.note), min(b.note) FROM rows a LEFT JOIN rows b ON a.id = b.other AND a.id % 5 < b.id % 3",
        "SELECT count(*), sum(a.id), max(a.note) FROM rows a WHERE NOT EXISTS (SELECT * FROM rows b WHERE a.note = b.note AND b.other <> a.other + 1 AND b.id % 2 = 0)",
    ] {
        let run = |query: &str, more: &[&str]| {
            place.done(&[&["rows", "--format", "csv", "-c", query], more].concat())
        };
        assert_eq!(run(query, &[]), run(query, &there), "{query}");
        let analysed = run(&format!("EXPLAIN ANALYZE {query}"), &there);
        assert!(analysed.contains("GraceHashJoin"), "{analysed}");
    }
}
