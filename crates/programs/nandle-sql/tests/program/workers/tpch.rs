//! The 22 queries of TPC-H, if its data generator is installed.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::place::Place;

use super::fleet::{self, urls};

const TABLES: [&str; 8] =
    ["customer", "lineitem", "nation", "orders", "part", "partsupp", "region", "supplier"];
const SCALE: f64 = 0.01;

#[test]
fn the_22_queries_give_what_one_process_gives() {
    let Some(python) = std::env::var_os("NANDLE_PYARROW").map(PathBuf::from) else {
        eprintln!("skipped: NANDLE_PYARROW names no Python with tpchgen-cli");
        return;
    };
    let place = Place::new();
    let mut made = Command::new(python.with_file_name("tpchgen-cli"));
    // Row groups are distributed, so there have to be many.
    made.args(["parquet", "-q", "-s", &SCALE.to_string(), "--row-group-bytes", "64KiB", "--output-dir"]);
    made.arg(place.path("tpch"));
    assert!(made.status().unwrap().success());
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../query/engine/tests/tpch");
    let read = |number| std::fs::read_to_string(folder.join(format!("{number:02}.sql"))).unwrap();
    let all: Vec<String> =
        (1..=22).map(|number| read(number).replace("0.0001", &format!("{:.7}", 0.0001 / SCALE))).collect();
    std::fs::write(place.path("all.sql"), all.join(";\n")).unwrap();
    let tables = TABLES.map(|table| format!("tpch/{table}.parquet"));
    let tables: Vec<&str> = tables.iter().map(String::as_str).collect();
    let query = ["-f", "all.sql", "--format", "csv"];
    let alone = place.done(&[&tables[..], &query].concat());
    let workers = fleet::start(&place, &tables, 3);
    for (count, threads) in [(1, "1"), (2, "1"), (3, "3")] {
        let urls = urls(&workers[..count]);
        let together = ["--workers", &urls, "--distribute-above", "0ms", "--threads", threads];
        let rows = place.done(&[&tables[..], &query, &together].concat());
        assert_eq!(alone, rows, "{count} workers, {threads} threads");
    }
}
