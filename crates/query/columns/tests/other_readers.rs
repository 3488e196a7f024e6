//! Other tools can read a table without pending changes as `data/*.parquet`. Needs a Python with
//! pyarrow and duckdb, named by `NANDLE_PYARROW`; otherwise does nothing.
#![allow(clippy::unwrap_used, reason = "a test's way to fail")]

mod support;

use std::process::Command;

use nandle_columns::{Layout, Table, TableOptions};
use support::{flights, schema, text};

const SCRIPT: &str = r#"
import sys, duckdb, pyarrow.parquet as pq, pyarrow.compute as pc
def line(row):
    texts = ["-" if v is None else str(v).lower() if isinstance(v, bool) else v.isoformat() if hasattr(v, "isoformat") else str(v) for v in row]
    return "|".join(texts)
import glob
ours = sorted(glob.glob(sys.argv[1] + "/data/*.parquet"))
rows = [line(row.values()) for name in ours for row in pq.read_table(name).to_pylist()]
ducks = [line(row) for row in duckdb.sql(f"select * from '{sys.argv[1]}/data/*.parquet'").fetchall()]
assert sorted(rows) == sorted(ducks), "DuckDB and pyarrow differ"
meta = pq.ParquetFile(ours[0]).metadata
assert meta.row_group(0).column(2).has_column_index and meta.row_group(0).column(2).has_offset_index
print("\n".join(rows))
"#;

#[test]
#[allow(clippy::print_stderr, reason = "a test that is skipped must be seen to be")]
fn other_tools_read_the_same_rows() {
    let Some(python) = std::env::var_os("NANDLE_PYARROW") else {
        eprintln!("skipped: NANDLE_PYARROW names no Python with pyarrow and duckdb");
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    let layout = Layout { page_bytes: 4096, row_group_rows: 3000, ..Layout::default() };
    let table =
        Table::create(directory.path(), &TableOptions { layout, ..TableOptions::new(schema(), 1) }).unwrap();
    let mut expected = Vec::new();
    for month in 1..=3_u8 {
        let rows = flights(u64::from(month), 5000, month.cast_signed());
        let mut writer = table.load().unwrap();
        writer.write(&rows).unwrap();
        writer.commit().unwrap();
        if month != 2 {
            expected.extend(text(&rows));
        }
    }
    let revised = flights(9, 700, 2);
    let mut writer = table.replace(&["month"]).unwrap();
    writer.write(&revised).unwrap();
    writer.commit().unwrap();
    expected.extend(text(&revised));
    let output = Command::new(python).arg("-c").arg(SCRIPT).arg(directory.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut got: Vec<String> =
        String::from_utf8(output.stdout).unwrap().lines().map(ToOwned::to_owned).collect();
    expected.sort();
    got.sort();
    assert_eq!(got.len(), expected.len());
    assert!(got == expected, "{:?}", got.iter().zip(&expected).find(|(got, expected)| got != expected));
}
