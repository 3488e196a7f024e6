//! Workers give the same results as a single process.

use crate::place::Place;

use super::data::{self, QUERIES, TABLES, add_ordered_table, place};
use super::fleet::{self, Worker, urls};

/// Rows of all queries as CSV.
fn rows(place: &Place, threads: &str, more: &[&str]) -> String {
    let all = QUERIES.join(";\n");
    std::fs::write(place.path("all.sql"), all).unwrap();
    let query = ["-f", "all.sql", "--format", "csv", "--threads", threads];
    place.done(&[&TABLES[..], &query, more].concat())
}

#[test]
fn results_are_those_of_one_process() {
    let place = place();
    let alone = rows(&place, "4", &[]);
    assert!(alone.lines().count() > 500, "{alone}");
    let workers = fleet::start(&place, &TABLES, 5);
    // Workers have one thread, the coordinator one or several.
    for (count, threads) in [(1, "1"), (1, "4"), (2, "1"), (2, "4"), (3, "4"), (5, "1"), (5, "4")] {
        let urls = urls(&workers[..count]);
        let together = rows(&place, threads, &["--workers", &urls, "--distribute-above", "0ms"]);
        assert_eq!(alone, together, "{count} workers, {threads} threads");
    }
}

/// The engine assumes that the groups of a single partition are complete.
#[test]
fn a_scan_of_one_partition_is_one_workers() {
    let place = place();
    data::add_table_of_one_file(&place, "short");
    let query = "SELECT kind, count(*), sum(amount) FROM short GROUP BY kind ORDER BY kind";
    let query = ["short", "--format", "csv", "-c", query];
    let alone = place.done(&query);
    assert_eq!(alone.lines().count(), 12, "{alone}");
    let workers = fleet::start(&place, &["short"], 2);
    let together = ["--workers", &urls(&workers), "--distribute-above", "0ms"];
    assert_eq!(alone, place.done(&[&query[..], &together].concat()));
}

/// Shares shown by EXPLAIN: row groups per worker.
fn shares(place: &Place, more: &[&str]) -> Vec<(String, usize)> {
    let explain = "EXPLAIN SELECT l_flag, sum(l_price) FROM lines GROUP BY 1";
    let explained = place.done(&[&["lines", "-c", explain], more].concat());
    let lines = explained.lines().filter_map(|line| line.strip_prefix("lines: http"));
    let share = |line: &str| {
        let (worker, rest) = line.split_once(": ").unwrap();
        let (row_groups, _) = rest.split_once(" row groups").unwrap();
        (format!("http{worker}"), row_groups.parse().unwrap())
    };
    lines.map(share).collect()
}

#[test]
fn short_scans_stay_where_they_are_and_long_ones_are_shared_by_predicted_time() {
    let place = place();
    let slow = place.slow_profile();
    let fast = Worker::start(&place, &["lines", "--threads", "1"]);
    let command = |place: &Place| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_nandle-sql"));
        command.args([
            "worker",
            "lines",
            "--threads",
            "1",
            "--json",
            "--memory",
            "64MiB",
            "--spill-directory",
            ".",
        ]);
        command.arg("--profile").arg(&slow).current_dir(place.root());
        command
    };
    let slow = Worker::of(command(&place));
    let both = format!("{},{}", fast.url, slow.url);
    assert_eq!(shares(&place, &["--workers", &both]), [], "a millisecond isn't worth a connection");
    let shared = shares(&place, &["--workers", &both, "--distribute-above", "0ms"]);
    let [(first, of_fast), (second, of_slow)] = shared.as_slice() else { panic!("{shared:?}") };
    assert_eq!((first, second), (&fast.url, &slow.url));
    assert!(of_fast > of_slow && of_fast + of_slow == 5, "{shared:?}");
}

#[test]
fn shares_have_a_sum_and_the_query_no_time() {
    let place = place();
    let workers = fleet::start(&place, &["lines", "orders"], 2);
    let query = "EXPLAIN SELECT o_day, sum(l_price) FROM lines, orders WHERE l_order = o_id GROUP BY 1";
    let urls = urls(&workers);
    let explained =
        place.done(&["lines", "orders", "-c", query, "--workers", &urls, "--distribute-above", "0ms"]);
    for part in [
        "lines: all workers side by side: 5 row groups, ",
        "orders: all workers side by side: 3 row groups, ",
    ] {
        assert!(explained.contains(part), "{part:?} is missing in {explained}");
    }
    assert!(explained.contains("How long the query takes isn't predicted"), "{explained}");
}

#[test]
fn the_larger_side_of_a_join_stays_where_it_is_read() {
    let place = place();
    data::write_numbers(&place, 300_000, "few.parquet");
    data::write_numbers(&place, 600_000, "many.parquet");
    let workers = fleet::start(&place, &["few.parquet", "many.parquet"], 2);
    let query = "EXPLAIN SELECT count(*) FROM few, many WHERE few.id = many.id AND many.part < 3";
    let urls = urls(&workers);
    let tables = ["few.parquet", "many.parquet", "-c", query];
    let explained = place.done(&[&tables[..], &["--workers", &urls, "--distribute-above", "0ms"]].concat());
    assert!(explained.contains("mode=CollectLeft") && !explained.contains("mode=Partitioned"), "{explained}");
    let here = place.done(&tables);
    assert!(here.contains("mode=Partitioned"), "{here}");
}

#[test]
fn what_workers_took_is_said() {
    let place = place();
    let workers = fleet::start(&place, &["lines"], 2);
    let query = "EXPLAIN ANALYZE SELECT l_flag, sum(l_price) FROM lines GROUP BY 1";
    let explained =
        place.done(&["lines", "-c", query, "--workers", &urls(&workers), "--distribute-above", "0ms"]);
    for part in ["Stage 1", "tasks=2", "unplanned=0", "requests="] {
        assert!(explained.contains(part), "{part:?} is missing in {explained}");
    }
}

#[test]
fn ways_of_reading_go_along_and_the_engines_own_stays() {
    let place = place();
    let workers = fleet::start(&place, &["lines"], 2);
    let urls = urls(&workers);
    let explained = |how: &str| {
        let query = format!("SET nandle.reads = '{how}'; EXPLAIN ANALYZE SELECT sum(l_price) FROM lines");
        place.done(&["lines", "-c", &query, "--workers", &urls, "--distribute-above", "0ms"])
    };
    assert!(explained("whole-group").contains("Stage 1"));
    assert!(!explained("engine").contains("Stage 1"), "what isn't planned is read here");
}

#[test]
fn orders_of_a_table_hold_and_its_projections_are_read() {
    let place = Place::new();
    add_ordered_table(&place, "days");
    let queries = "SELECT day, amount FROM days ORDER BY day; SELECT day, count(*), sum(amount) FROM days GROUP BY day ORDER BY day; \
                   SELECT day, amount FROM days WHERE amount > 900 ORDER BY day LIMIT 70; \
                   SELECT kind, sum(amount), min(amount) FROM days GROUP BY kind ORDER BY kind; \
                   SELECT DISTINCT kind, amount FROM days WHERE kind < 3 ORDER BY kind, amount";
    let query = ["days", "-c", queries, "--format", "csv", "--threads", "3"];
    // The order of rows within a day is undefined.
    let rows = |more: &[&str]| {
        let rows = place.done(&[&query[..], more].concat());
        let mut results: Vec<Vec<String>> = Vec::new();
        for line in rows.lines() {
            if line.starts_with(|first: char| first.is_ascii_lowercase()) {
                results.push(Vec::new());
            }
            results.last_mut().unwrap().push(line.to_owned());
        }
        results
    };
    let workers = fleet::start(&place, &["days"], 2);
    let urls = urls(&workers);
    let (alone, together) = (rows(&[]), rows(&["--workers", &urls, "--distribute-above", "0ms"]));
    let first_of = |rows: &[String]| {
        rows[1..].iter().map(|row| row.split(',').next().unwrap().parse::<u64>().unwrap()).collect::<Vec<_>>()
    };
    for (alone, together) in alone.iter().zip(&together) {
        assert_eq!(first_of(alone), first_of(together));
    }
    assert_eq!((&alone[1], &alone[3..]), (&together[1], &together[3..]));
    let explain = "EXPLAIN SELECT kind, sum(amount) FROM days GROUP BY kind";
    let explained = place.done(&["days", "-c", explain, "--workers", &urls, "--distribute-above", "0ms"]);
    assert!(explained.contains("days, projection ") && explained.contains(&workers[1].url), "{explained}");
}
