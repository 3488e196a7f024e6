//! Rows as an aligned table. Column widths follow from the first rows; longer cells of later rows
//! make their line longer.

use std::io::Write;

use arrow_array::RecordBatch;
use arrow_schema::{Schema, SchemaRef};
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use unicode_width::UnicodeWidthStr as _;

use super::of_arrow;
use crate::EngineError;

/// Rows or bytes that are held back to choose the column widths.
const HELD_ROWS: usize = 10_000;
const HELD_BYTES: usize = 8 << 20;

/// Writer of a table.
pub(super) struct TableWriter<W> {
    to: W,
    schema: SchemaRef,
    /// First rows, until the widths are chosen.
    held: Vec<RecordBatch>,
    widths: Option<Vec<usize>>,
    written_rows: u64,
}

impl<W: Write> TableWriter<W> {
    pub(super) fn new(to: W, schema: &Schema) -> Self {
        Self { to, schema: schema.clone().into(), held: Vec::new(), widths: None, written_rows: 0 }
    }

    /// Number of rows written, without those held back.
    pub(super) const fn written_rows(&self) -> u64 {
        self.written_rows
    }

    pub(super) fn write(&mut self, batch: &RecordBatch) -> Result<(), EngineError> {
        if self.widths.is_some() {
            return self.write_rows(batch);
        }
        self.held.push(batch.clone());
        let rows: usize = self.held.iter().map(RecordBatch::num_rows).sum();
        let bytes: usize = self.held.iter().map(RecordBatch::get_array_memory_size).sum();
        if rows >= HELD_ROWS || bytes >= HELD_BYTES { self.begin() } else { Ok(()) }
    }

    pub(super) fn finish(mut self) -> Result<(), EngineError> {
        if self.widths.is_none() {
            self.begin()?;
        }
        self.write_border()?;
        self.to.flush().map_err(EngineError::Output)
    }

    /// Chooses the widths, and writes the held rows.
    fn begin(&mut self) -> Result<(), EngineError> {
        let names: Vec<String> = self.schema.fields().iter().map(|field| field.name().clone()).collect();
        let mut widths: Vec<usize> = names.iter().map(|name| width(name)).collect();
        let held = std::mem::take(&mut self.held);
        for batch in &held {
            each_row(batch, |cells| {
                for (known, cell) in widths.iter_mut().zip(cells) {
                    *known = width(cell).max(*known);
                }
                Ok(())
            })?;
        }
        self.widths = Some(widths);
        self.write_border()?;
        self.write_line(&names)?;
        self.write_border()?;
        held.iter().try_for_each(|batch| self.write_rows(batch))
    }

    fn write_rows(&mut self, batch: &RecordBatch) -> Result<(), EngineError> {
        each_row(batch, |cells| self.write_line(cells))?;
        self.written_rows += batch.num_rows() as u64;
        Ok(())
    }

    fn widths(&self) -> &[usize] {
        self.widths.as_deref().unwrap_or_default()
    }

    fn write_border(&mut self) -> Result<(), EngineError> {
        let parts: Vec<String> = self.widths().iter().map(|width| "-".repeat(width + 2)).collect();
        writeln!(self.to, "+{}+", parts.join("+")).map_err(EngineError::Output)
    }

    /// Writes a row; its height is that of its highest cell.
    fn write_line(&mut self, cells: &[String]) -> Result<(), EngineError> {
        let height = cells.iter().map(|cell| cell.split('\n').count()).max().unwrap_or(1);
        for line in 0..height {
            let mut text = String::new();
            for (cell, width_min) in cells.iter().zip(self.widths()) {
                let part = cell.split('\n').nth(line).unwrap_or_default();
                text.push_str("| ");
                text.push_str(part);
                text.extend(std::iter::repeat_n(' ', width_min.saturating_sub(part.width()) + 1));
            }
            writeln!(self.to, "{text}|").map_err(EngineError::Output)?;
        }
        Ok(())
    }
}

/// Width of the longest line, in terminal columns.
fn width(cell: &str) -> usize {
    cell.split('\n').map(str::width).max().unwrap_or_default()
}

/// Calls `on_row` with the cells of each row.
fn each_row(
    batch: &RecordBatch,
    mut on_row: impl FnMut(&[String]) -> Result<(), EngineError>,
) -> Result<(), EngineError> {
    let options = FormatOptions::default().with_display_error(true);
    let formatters = batch.columns().iter().map(|column| ArrayFormatter::try_new(column.as_ref(), &options));
    let formatters = formatters.collect::<Result<Vec<_>, _>>().map_err(of_arrow)?;
    let mut cells = Vec::with_capacity(formatters.len());
    for row in 0..batch.num_rows() {
        cells.clear();
        cells.extend(formatters.iter().map(|formatter| formatter.value(row).to_string()));
        on_row(&cells)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{ArrayRef, Float64Array, Int64Array, StringArray};
    use datafusion::arrow::util::pretty::pretty_format_batches;

    use super::*;

    fn batch(first: i64, count: i64, word: &str) -> RecordBatch {
        let ids = (first..first + count).collect::<Int64Array>();
        let words = (first..first + count).map(|id| (id % 3 > 0).then(|| format!("{word}{id}")));
        let halves = (first..first + count).map(|id| id as f64 / 2.0).collect::<Float64Array>();
        let columns: [(&str, ArrayRef); 3] = [
            ("id", Arc::new(ids)),
            ("a word", Arc::new(words.collect::<StringArray>())),
            ("half", Arc::new(halves)),
        ];
        RecordBatch::try_from_iter_with_nullable(columns.map(|(name, column)| (name, column, true))).unwrap()
    }

    fn written(batches: &[RecordBatch]) -> String {
        let mut text = Vec::new();
        let schema = batches[0].schema();
        let mut writer = TableWriter::new(&mut text, &schema);
        batches.iter().try_for_each(|batch| writer.write(batch)).unwrap();
        writer.finish().unwrap();
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn a_table_is_as_the_library_draws_it() {
        for word in ["w", "日本", "one\ntwo ", ""] {
            let batches = [batch(0, 5, word), batch(5, 2, "longer than before")];
            let expected = format!("{}\n", pretty_format_batches(&batches).unwrap());
            assert_eq!(written(&batches), expected);
        }
        assert_eq!(written(&[batch(0, 0, "")]).lines().count(), 4, "columns have names without rows, too");
    }

    #[test]
    fn many_rows_are_written_as_they_come() {
        let mut text = Vec::new();
        let schema = batch(0, 1, "").schema();
        let mut writer = TableWriter::new(&mut text, &schema);
        for part in 0..20 {
            writer.write(&batch(part * 1000, 1000, "w")).unwrap();
            let rows = u64::try_from((part + 1) * 1000).unwrap();
            assert_eq!(writer.written_rows(), if rows >= HELD_ROWS as u64 { rows } else { 0 });
            assert!(writer.held.len() < 10);
        }
        writer.write(&batch(0, 2, "a word that is longer than those before")).unwrap();
        writer.finish().unwrap();
        let text = String::from_utf8(text).unwrap();
        assert_eq!(text.lines().count(), 20_002 + 4);
        assert!(text.contains("| a word that is longer than those before1 | 0.5"), "{}", &text[..300]);
    }

    #[test]
    fn few_large_rows_are_not_held() {
        let mut text = Vec::new();
        let large = batch(0, 3, &"x".repeat(3 << 20));
        let schema = large.schema();
        let mut writer = TableWriter::new(&mut text, &schema);
        writer.write(&large).unwrap();
        writer.write(&large).unwrap();
        assert_eq!(writer.written_rows(), 6);
    }
}
