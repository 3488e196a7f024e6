//! TPC-H, compared with `DuckDB` on the same files. Needs a Python with `duckdb` and `tpchgen-cli`,
//! named by `NANDLE_PYARROW`; otherwise does nothing. `NANDLE_TPCH_SCALE` sets the amount of data,
//! and `NANDLE_TPCH_MEMORY_MIB` the memory of the queries.

use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::str::FromStr;

use nandle_engine::{Engine, EngineError, Format, RowWriter, Source};
use serde_json::Value;

use crate::support::{Place, figures, plan, pricing, set_reads};

const TABLES: [&str; 8] =
    ["customer", "lineitem", "nation", "orders", "part", "partsupp", "region", "supplier"];
/// Read modes, assigned to queries in turn.
const WAYS: [&str; 5] = ["flexible", "fixed-block", "whole-group", "one-by-one:8", "engine"];
/// Sums are exact on both sides. Averages and quotients are decimals with a few more digits here,
/// and floating-point in `DuckDB`.
const TOLERANCE: f64 = 1e-5;

/// Reads an environment variable with a default.
fn setting<T: FromStr<Err: Debug>>(name: &str, usual: T) -> T {
    std::env::var(name).ok().map_or(usual, |text| text.parse().unwrap())
}

struct Tpch {
    place: Place,
    python: PathBuf,
    queries: Vec<String>,
}

impl Tpch {
    #[allow(clippy::print_stderr, reason = "a test that is skipped must be seen to be")]
    fn make() -> Option<Self> {
        let Some(python) = std::env::var_os("NANDLE_PYARROW").map(PathBuf::from) else {
            eprintln!("skipped: NANDLE_PYARROW names no Python with duckdb and tpchgen-cli");
            return None;
        };
        let (place, scale) = (Place::new(), setting("NANDLE_TPCH_SCALE", 0.1));
        let generator = python.with_file_name("tpchgen-cli");
        let mut made = Command::new(generator);
        made.args(["parquet", "-q", "-s", &scale.to_string(), "--output-dir"]).arg(place.path("tpch"));
        assert!(made.status().unwrap().success());
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tpch");
        let read = |number| std::fs::read_to_string(folder.join(format!("{number:02}.sql"))).unwrap();
        // The threshold of query 11 depends on the scale.
        let queries =
            (1..=22).map(|number| read(number).replace("0.0001", &format!("{:.7}", 0.0001 / scale)));
        Some(Self { queries: queries.collect(), place, python })
    }

    fn engine(&self, memory_bytes: u64) -> Engine {
        let engine = Engine::new(&self.place.options(memory_bytes)).unwrap();
        for table in TABLES {
            let path = self.place.path(&format!("tpch/{table}.parquet"));
            engine.add_table(&Source::find(&path.display().to_string()).unwrap(), &pricing()).unwrap();
        }
        engine
    }

    /// Rows of all queries by `DuckDB`.
    fn expected(&self) -> Vec<Vec<Vec<Value>>> {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tpch/by_duckdb.py");
        let output = Command::new(&self.python)
            .arg(script)
            .arg(self.place.path("tpch"))
            .args(&self.queries)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let lines = String::from_utf8(output.stdout).unwrap();
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// Rows of a query as text, in order.
fn rows(engine: &Engine, query: &str) -> Result<Vec<Vec<String>>, EngineError> {
    let statement = engine.parse(query)?.remove(0).unwrap();
    let mut rows = engine.run(&statement)?;
    let mut text = Vec::new();
    let mut writer = RowWriter::new(&mut text, Format::Csv, rows.schema())?;
    while let Some(batch) = rows.next_batch(&|| false)? {
        writer.write(&batch)?;
    }
    writer.finish()?;
    let mut reader = csv::Reader::from_reader(&*text);
    Ok(reader.records().map(|row| row.unwrap().iter().map(ToOwned::to_owned).collect()).collect())
}

fn is_same(got: &str, expected: &Value) -> bool {
    match expected {
        Value::String(text) => got == text,
        Value::Number(number) => {
            let (got, expected) = (got.parse::<f64>().unwrap(), number.as_f64().unwrap());
            (got - expected).abs() <= TOLERANCE * expected.abs().max(1.0)
        }
        _ => got.is_empty(),
    }
}

#[track_caller]
fn compare(number: usize, got: &[Vec<String>], expected: &[Vec<Value>]) {
    assert_eq!(got.len(), expected.len(), "rows of query {number}");
    for (got, expected) in got.iter().zip(expected) {
        let are_same = got.len() == expected.len()
            && got.iter().zip(expected).all(|(got, expected)| is_same(got, expected));
        assert!(are_same, "query {number}: {got:?}, not {expected:?}");
    }
}

#[test]
fn the_22_queries_give_what_another_engine_gives_and_read_by_plan_alone() {
    let Some(tpch) = Tpch::make() else { return };
    let expected = tpch.expected();
    let engine = tpch.engine(1 << 30);
    for (at, (query, expected)) in tpch.queries.iter().zip(&expected).enumerate() {
        for way in ["flexible", WAYS[at % WAYS.len()]] {
            set_reads(&engine, way);
            compare(at + 1, &rows(&engine, query).unwrap(), expected);
        }
        if WAYS[at % WAYS.len()] == "engine" {
            set_reads(&engine, "flexible");
        }
        let explained = plan(&engine, &format!("EXPLAIN ANALYZE {query}"));
        let unplanned = figures(&explained, "unplanned");
        assert!(!unplanned.is_empty() && unplanned.iter().all(|count| *count == "0"), "{explained}");
    }
}

#[test]
fn in_little_memory_they_give_the_same_or_name_who_holds_it() {
    let Some(tpch) = Tpch::make() else { return };
    let expected = tpch.expected();
    let mebibytes: u64 = setting("NANDLE_TPCH_MEMORY_MIB", 32);
    let engine = tpch.engine(mebibytes << 20);
    for (at, (query, expected)) in tpch.queries.iter().zip(&expected).enumerate() {
        match rows(&engine, query) {
            Ok(got) => compare(at + 1, &got, expected),
            Err(error) => {
                let text = error.to_string();
                assert!(text.contains("memory") && text.contains('#'), "query {}: {text}", at + 1);
            }
        }
    }
}
