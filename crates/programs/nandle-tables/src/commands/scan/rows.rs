//! Rows as text.

use std::io::{Result, Write};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array as _, RecordBatch, RecordBatchOptions};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use nandle_columns::for_text;
use nandle_terminal::words::table;
use serde::Serializer as _;
use serde_json::Value;

use super::args::RowFormat;

/// Prints batches of rows.
pub(super) struct RowWriter<W: Write> {
    into: W,
    format: RowFormat,
    left: u64,
    has_header: bool,
    /// Rows of a table, held until the column widths are known.
    gathered: Vec<Vec<String>>,
}

impl<W: Write> RowWriter<W> {
    /// Prints at most `limit` rows.
    pub(super) fn new(into: W, format: RowFormat, limit: u64) -> Self {
        let left = if format == RowFormat::None { 0 } else { limit };
        Self { into, format, left, has_header: false, gathered: Vec::new() }
    }

    /// Returns true if no more rows will be printed.
    pub(super) fn is_full(&self) -> bool {
        self.left == 0
    }

    pub(super) fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let rows = usize::try_from(self.left).unwrap_or(usize::MAX).min(batch.num_rows());
        self.left -= rows as u64;
        if rows == 0 {
            return Ok(());
        }
        let batch = texts(&batch.slice(0, rows))?;
        match self.format {
            RowFormat::Csv => self.write_csv(&batch),
            RowFormat::Json => self.write_json(&batch),
            RowFormat::Table => self.gather(&batch),
            RowFormat::None => Ok(()),
        }
    }

    /// Prints the rest, and the header even without rows.
    pub(super) fn finish(mut self, schema: &Schema) -> Result<()> {
        match self.format {
            RowFormat::Csv => self.write_header(schema)?,
            RowFormat::Table => {
                let mut rows = table([]);
                rows.set_header(schema.fields().iter().map(|field| escaped(field.name())));
                rows.add_rows(std::mem::take(&mut self.gathered));
                writeln!(self.into, "{rows}")?;
            }
            RowFormat::Json | RowFormat::None => {}
        }
        self.into.flush()
    }

    fn write_header(&mut self, schema: &Schema) -> Result<()> {
        if std::mem::replace(&mut self.has_header, true) {
            return Ok(());
        }
        let mut writer = csv::Writer::from_writer(&mut self.into);
        writer.write_record(schema.fields().iter().map(|field| field.name())).map_err(csv_wrong)?;
        writer.flush()
    }

    fn write_csv(&mut self, batch: &RecordBatch) -> Result<()> {
        self.write_header(&batch.schema())?;
        let columns = formatters(batch)?;
        let mut writer = csv::Writer::from_writer(&mut self.into);
        let mut cell = String::new();
        for row in 0..batch.num_rows() {
            for column in &columns {
                cell.clear();
                column.value(row).write(&mut cell).map_err(wrong)?;
                writer.write_field(&cell).map_err(csv_wrong)?;
            }
            writer.write_record(None::<&[u8]>).map_err(csv_wrong)?;
        }
        writer.flush()
    }

    fn write_json(&mut self, batch: &RecordBatch) -> Result<()> {
        let columns = formatters(batch)?;
        let schema = batch.schema();
        for row in 0..batch.num_rows() {
            let cells =
                schema.fields().iter().zip(&columns).zip(batch.columns()).map(|((field, column), array)| {
                    let value = match field.data_type() {
                        _ if array.is_null(row) => Value::Null,
                        // Every value of the type is null.
                        DataType::Null => Value::Null,
                        DataType::Boolean => Value::Bool(array.as_boolean().value(row)),
                        data_type => {
                            let text = column.value(row).try_to_string().map_err(wrong)?;
                            // A decimal has more digits than JSON readers keep.
                            let is_number = data_type.is_integer() || data_type.is_floating();
                            let number = if is_number { text.parse().ok() } else { None };
                            number.map_or(Value::String(text), Value::Number)
                        }
                    };
                    Ok((field.name(), value))
                });
            let cells: Vec<(&String, Value)> = cells.collect::<Result<_>>()?;
            serde_json::Serializer::new(&mut self.into).collect_map(cells)?;
            self.into.write_all(b"\n")?;
        }
        Ok(())
    }

    fn gather(&mut self, batch: &RecordBatch) -> Result<()> {
        let columns = formatters(batch)?;
        for row in 0..batch.num_rows() {
            let cells = columns.iter().zip(batch.columns()).map(|(column, array)| {
                // Distinguishable from an empty text.
                if array.is_null(row) {
                    return Ok("NULL".to_owned());
                }
                column.value(row).try_to_string().map(|text| escaped(&text))
            });
            self.gathered.push(cells.collect::<std::result::Result<_, _>>().map_err(wrong)?);
        }
        Ok(())
    }
}

/// Escapes control characters, which could steer the terminal.
fn escaped(text: &str) -> String {
    nandle_profile::escaped(text).into_owned()
}

/// The rows with all values convertible to text.
fn texts(batch: &RecordBatch) -> Result<RecordBatch> {
    let columns = batch.columns().iter().map(for_text).collect::<std::result::Result<Vec<_>, _>>();
    let columns = columns.map_err(wrong)?;
    let schema = batch.schema();
    let fields = schema.fields().iter().zip(&columns);
    let fields: Vec<Field> =
        fields.map(|(field, column)| Field::new(field.name(), column.data_type().clone(), true)).collect();
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), columns, &options).map_err(wrong)
}

fn formatters(batch: &RecordBatch) -> Result<Vec<ArrayFormatter<'_>>> {
    const OPTIONS: FormatOptions<'_> = FormatOptions::new();
    let columns = batch.columns().iter().map(|column| ArrayFormatter::try_new(column, &OPTIONS));
    columns.collect::<std::result::Result<_, _>>().map_err(wrong)
}

fn wrong(error: ArrowError) -> std::io::Error {
    std::io::Error::other(error)
}

/// Recovers the system's error, so that a closed pipe is recognised.
fn csv_wrong(error: csv::Error) -> std::io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        kind => std::io::Error::other(format!("{kind:?}")),
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::{ArrayRef, BooleanArray, Int16Array, StringArray};

    use super::*;

    fn printed(format: RowFormat, limit: u64) -> String {
        let columns: [(&str, ArrayRef); 3] = [
            ("n", Arc::new(Int16Array::from(vec![Some(-1), None]))),
            ("text", Arc::new(StringArray::from(vec!["a,\"b\"", "\u{1b}[31m"]))),
            ("yes", Arc::new(BooleanArray::from(vec![true, false]))),
        ];
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let mut into = Vec::new();
        let mut writer = RowWriter::new(&mut into, format, limit);
        writer.write(&batch).unwrap();
        writer.write(&batch).unwrap();
        writer.finish(&batch.schema()).unwrap();
        String::from_utf8(into).unwrap()
    }

    #[test]
    fn rows_are_what_they_were() {
        assert_eq!(printed(RowFormat::Csv, 1), "n,text,yes\n-1,\"a,\"\"b\"\"\",true\n");
        assert_eq!(printed(RowFormat::Csv, 0), "n,text,yes\n");
        let json = printed(RowFormat::Json, 2);
        let rows: Vec<Value> = json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(rows[0], serde_json::json!({ "n": -1, "text": "a,\"b\"", "yes": true }));
        assert_eq!(rows[1], serde_json::json!({ "n": null, "text": "\u{1b}[31m", "yes": false }));
        assert_eq!(rows.len(), 2);
        assert_eq!(printed(RowFormat::None, 2), "");
        let table = printed(RowFormat::Table, 3);
        assert!(table.lines().count() == 4 && table.contains("NULL") && !table.contains('\u{1b}'), "{table}");
    }
}
