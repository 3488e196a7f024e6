//! `DuckDB` over a pipe.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::Value;
use sqllogictest::{DB, DBOutput, DefaultColumnType};

use super::cells::{float, text};

/// A process that runs statements over the same tables.
pub(super) struct DuckDb {
    child: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
}

/// Error of a statement.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Refused(String);

impl DuckDb {
    pub(super) fn start(python: &Path, tables: &Path) -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/slt/by_duckdb.py");
        let mut command = Command::new(python);
        command.arg(script).arg(tables).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (to, from) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, to, from }
    }

    fn ask(&mut self, statement: &str) -> Value {
        writeln!(self.to.as_mut().unwrap(), "{}", Value::from(statement)).unwrap();
        let mut line = String::new();
        self.from.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }
}

impl DB for DuckDb {
    type Error = Refused;
    type ColumnType = DefaultColumnType;

    fn run(&mut self, statement: &str) -> Result<DBOutput<DefaultColumnType>, Refused> {
        let answer = self.ask(statement);
        if let Some(error) = answer["error"].as_str() {
            return Err(Refused(error.to_owned()));
        }
        let kinds = answer["kinds"].as_str().unwrap();
        let types = kinds.chars().map(kind).collect();
        let row = |row: &Value| row.as_array().unwrap().iter().zip(kinds.chars()).map(cell).collect();
        let rows = answer["rows"].as_array().unwrap().iter().map(row).collect();
        Ok(DBOutput::Rows { types, rows })
    }

    fn engine_name(&self) -> &'static str {
        "duckdb"
    }
}

fn kind(letter: char) -> DefaultColumnType {
    match letter {
        'I' => DefaultColumnType::Integer,
        'F' | 'D' => DefaultColumnType::FloatingPoint,
        _ => DefaultColumnType::Text,
    }
}

fn cell((value, kind): (&Value, char)) -> String {
    match (value.as_str(), kind) {
        (None, _) => "NULL".to_owned(),
        (Some(number), 'F') => float(number.parse().unwrap()),
        (Some(cell), _) => text(cell.to_owned()),
    }
}

impl Drop for DuckDb {
    fn drop(&mut self) {
        // It ends when its input is closed.
        drop(self.to.take());
        let _ = self.child.wait();
    }
}
