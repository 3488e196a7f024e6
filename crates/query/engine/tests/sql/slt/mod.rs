//! Statements of `tests/slt` with their rows: in every read mode, and by `DuckDB`.
//!
//! The rows are from `DuckDB`. `NANDLE_WRITE_SLT=1` writes them again, otherwise they are checked.
//! Needs a Python with `duckdb`, named by `NANDLE_PYARROW`; without it does nothing. Differences of
//! its dialect are marked by `skipif duckdb` with the reason.

mod cells;
mod duckdb;
mod tables;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use nandle_engine::{Engine, EngineError};
use sqllogictest::{
    AsyncDB, DB, DBOutput, DefaultColumnType, MakeConnection, Runner, default_normalizer, default_validator,
    strict_column_validator,
};

use crate::support::{Place, set_reads};
use duckdb::DuckDb;

/// Read modes, assigned to files in turn.
const WAYS: [&str; 4] = ["fixed-block", "whole-group", "one-by-one:3", "engine"];

/// The engine under test.
struct Planned(Arc<Engine>);

impl DB for Planned {
    type Error = EngineError;
    type ColumnType = DefaultColumnType;

    fn run(&mut self, text: &str) -> Result<DBOutput<DefaultColumnType>, EngineError> {
        let mut output = DBOutput::StatementComplete(0);
        for statement in self.0.parse(text)? {
            let mut rows = self.0.run(&statement)?;
            let types = cells::types(rows.schema());
            let mut lines = Vec::new();
            while let Some(batch) = rows.next_batch(&|| false)? {
                lines.extend(cells::rows(&batch));
            }
            if !types.is_empty() {
                output = DBOutput::Rows { types, rows: lines };
            }
        }
        Ok(output)
    }

    fn engine_name(&self) -> &'static str {
        "nandle"
    }
}

/// Files of a folder of `tests/slt`.
fn files(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/slt").join(folder);
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// Runs all records of files, and returns the failures.
fn complaints<D, M>(runner: &mut Runner<D, M>, files: &[PathBuf]) -> (usize, String)
where
    D: AsyncDB<ColumnType = DefaultColumnType>,
    M: MakeConnection<Conn = D>,
{
    runner.with_column_validator(strict_column_validator);
    let (mut statements, mut text) = (0, String::new());
    for file in files {
        for record in sqllogictest::parse_file(file).unwrap() {
            statements += usize::from(is_statement(&record));
            if let Err(error) = runner.run(record) {
                let _ = writeln!(text, "{error}");
            }
        }
    }
    (statements, text)
}

fn is_statement(record: &sqllogictest::Record<DefaultColumnType>) -> bool {
    matches!(record, sqllogictest::Record::Statement { .. } | sqllogictest::Record::Query { .. })
}

#[test]
fn statements_give_the_rows_that_stand_below_them() {
    let place = Place::new();
    tables::write(&place.path("tables"));
    let engine = Arc::new(
        place.engine(&tables::NAMES.map(|name| format!("tables/{name}")).each_ref().map(String::as_str)),
    );
    let connect = || {
        let engine = Arc::clone(&engine);
        async move { Ok(Planned(engine)) }
    };
    let (mut statements, mut wrong) = (0, String::new());
    for (number, file) in files("tables").into_iter().enumerate() {
        for way in ["flexible", WAYS[number % WAYS.len()]] {
            set_reads(&engine, way);
            let (more, found) = complaints(&mut Runner::new(connect), std::slice::from_ref(&file));
            statements += more;
            if !found.is_empty() {
                let _ = writeln!(wrong, "{way}: {found}");
            }
        }
    }
    assert!(wrong.is_empty() && statements > 400, "{statements} statements: {wrong}");
    let (statements, wrong) = complaints(&mut Runner::new(connect), &files("literals"));
    assert!(wrong.is_empty() && statements > 100, "{statements} statements: {wrong}");
}

#[test]
#[allow(clippy::print_stderr, reason = "a test that is skipped must be seen to be")]
fn another_engine_gives_the_same_rows() {
    let Some(python) = std::env::var_os("NANDLE_PYARROW").map(PathBuf::from) else {
        eprintln!("skipped: NANDLE_PYARROW names no Python with duckdb");
        return;
    };
    let place = Place::new();
    tables::write(&place.path("tables"));
    let mut runner = Runner::new(|| async { Ok(DuckDb::start(&python, &place.path("tables"))) });
    let files = [files("tables"), files("literals")].concat();
    if std::env::var_os("NANDLE_WRITE_SLT").is_some() {
        for file in &files {
            let written = runner.update_test_file(
                file,
                " ",
                default_validator,
                default_normalizer,
                strict_column_validator,
            );
            futures_util::FutureExt::now_or_never(written).unwrap().unwrap();
        }
        return;
    }
    let (_, wrong) = complaints(&mut runner, &files);
    assert!(wrong.is_empty(), "{wrong}");
}
