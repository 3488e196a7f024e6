//! Fixed decoding cost of a page, whatever its size: the same rows decoded in pages of two sizes.

use std::path::Path;
use std::sync::Arc;

use arrow_array::{Int64Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use nandle_columns::{
    BatchDecoder, ColumnLayout, ColumnsError, DirectBytes, Layout, ScanSpec, Table, TableOptions,
};
use nandle_terminal::cpu;

use crate::decode::Ahead;
use crate::error::CliError;

const ROWS: u32 = 1 << 16;
const SMALL_PAGE_ROWS: u64 = 512;
/// Runs; the minimum counts, since noise only adds time.
const RUNS: usize = 5;

/// Processor time per page in nanoseconds.
pub(super) fn page_decode_ns() -> Result<f64, CliError> {
    let rows = rows()?;
    let (small_ns, small_pages) = decode_ns(&rows, SMALL_PAGE_ROWS)?;
    let (large_ns, large_pages) = decode_ns(&rows, u64::from(ROWS))?;
    Ok((small_ns - large_ns).max(0.0) / (small_pages - large_pages).max(1.0))
}

fn rows() -> Result<RecordBatch, CliError> {
    let schema = Arc::new(Schema::new(vec![Field::new("value", DataType::Int64, false)]));
    // Few distinct values, so that decoding them costs little compared with the pages.
    let values: Int64Array = (0..ROWS).map(|row| Some(i64::from(row * 7 % 101))).collect();
    RecordBatch::try_new(schema, vec![Arc::new(values)])
        .map_err(|error| CliError::failed(format!("measuring what decoding costs: {error}")))
}

/// Time of decoding the rows, and the number of pages.
fn decode_ns(rows: &RecordBatch, page_rows: u64) -> Result<(f64, f64), CliError> {
    let directory = tempfile::Builder::new()
        .prefix("nandle-tables-")
        .tempdir()
        .map_err(|error| CliError::failed(format!("making a temporary directory: {error}")))?;
    let table = written(directory.path(), rows, page_rows)?;
    let snapshot = table.snapshot()?;
    let plan = snapshot.scan(&ScanSpec::of(["value"]))?;
    let mut least_ns = f64::INFINITY;
    for _ in 0..RUNS {
        let mut bytes = Ahead::read(&mut DirectBytes::new(&plan), usize::MAX)?;
        let mut decoder = BatchDecoder::new(&plan);
        let before_ns = cpu::of_thread().0;
        while decoder.next(&mut bytes)?.is_some() {}
        least_ns = least_ns.min((cpu::of_thread().0 - before_ns) as f64);
    }
    Ok((least_ns, f64::from(ROWS) / page_rows as f64))
}

fn written(directory: &Path, rows: &RecordBatch, page_rows: u64) -> Result<Table, ColumnsError> {
    let layout = Layout {
        page_rows,
        columns: [("value".to_owned(), ColumnLayout::Codes)].into(),
        ..Layout::default()
    };
    let table = Table::create(directory, &TableOptions { layout, ..TableOptions::new(rows.schema(), 1) })?;
    let mut writer = table.load()?;
    writer.write(rows)?;
    writer.commit()?;
    Ok(table)
}
