//! Rows as text or files.

mod json;
mod table;

use std::fmt::Write as _;
use std::io::Write;
use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::{RecordBatch, new_null_array};
use arrow_schema::{DataType, Field, Schema};
use datafusion::arrow::csv;
use datafusion::arrow::error::ArrowError;
use datafusion::arrow::ipc::writer::StreamWriter;
use datafusion::arrow::json::LineDelimitedWriter;
use parquet::arrow::ArrowWriter;
use parquet::errors::ParquetError;

pub use json::json_texts;

use crate::EngineError;
use json::{has_other_keys, rows_with_text_keys};
use table::TableWriter;

/// Output format of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Aligned table for people. Column widths follow from the first rows, which are held back
    /// until then.
    Table,
    /// CSV with a header.
    Csv,
    /// A JSON object for each row, on a line of its own.
    Json,
    /// Arrow's IPC stream.
    Arrow,
    /// A Parquet file.
    Parquet,
}

/// Streaming writer of rows.
pub struct RowWriter<W: Write + Send> {
    kind: Kind<W>,
    rows: u64,
}

enum Kind<W: Write + Send> {
    Plans(W),
    Table(TableWriter<W>),
    Csv(Box<csv::Writer<W>>),
    Json(Box<LineDelimitedWriter<W>>),
    Arrow(Box<StreamWriter<W>>),
    Parquet(Box<ArrowWriter<W>>),
}

impl<W: Write + Send> RowWriter<W> {
    /// Creates a writer of rows with these columns.
    ///
    /// # Errors
    /// The output fails, or the format can't represent the columns.
    pub fn new(mut to: W, format: Format, schema: &Schema) -> Result<Self, EngineError> {
        let kind = match format {
            Format::Table if is_plans(schema) => Kind::Plans(to),
            Format::Table => Kind::Table(TableWriter::new(to, schema)),
            Format::Csv => {
                check_is_flat(schema)?;
                // Without rows a header is needed, too.
                let mut names = csv::WriterBuilder::new().with_header(true).build(&mut to);
                names.write(&RecordBatch::new_empty(schema.clone().into())).map_err(of_arrow)?;
                drop(names);
                Kind::Csv(Box::new(csv::WriterBuilder::new().with_header(false).build(to)))
            }
            Format::Json => Kind::Json(Box::new(LineDelimitedWriter::new(to))),
            Format::Arrow => Kind::Arrow(Box::new(StreamWriter::try_new(to, schema).map_err(of_arrow)?)),
            Format::Parquet => {
                check_is_for_parquet(schema)?;
                let writer = ArrowWriter::try_new(to, schema.clone().into(), None).map_err(of_parquet)?;
                Kind::Parquet(Box::new(writer))
            }
        };
        Ok(Self { kind, rows: 0 })
    }

    /// Writes some rows.
    ///
    /// # Errors
    /// The output fails.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<(), EngineError> {
        self.rows += batch.num_rows() as u64;
        match &mut self.kind {
            Kind::Plans(to) => to.write_all(plans(batch).as_bytes()).map_err(EngineError::Output),
            Kind::Table(writer) => writer.write(batch),
            Kind::Csv(writer) => writer.write(batch).map_err(of_arrow),
            Kind::Json(writer) if has_other_keys(batch.schema_ref()) => {
                rows_with_text_keys(batch).and_then(|batch| writer.write(&batch)).map_err(of_arrow)
            }
            Kind::Json(writer) => writer.write(batch).map_err(of_arrow),
            Kind::Arrow(writer) => writer.write(batch).map_err(of_arrow),
            Kind::Parquet(writer) => writer.write(batch).map_err(of_parquet),
        }
    }

    /// Number of rows that a reader can already see: a table holds back its first rows, and a
    /// Parquet file is readable only once complete.
    pub fn readable_rows(&self) -> u64 {
        match &self.kind {
            Kind::Table(writer) => writer.written_rows(),
            Kind::Parquet(_) => 0,
            Kind::Plans(_) | Kind::Csv(_) | Kind::Json(_) | Kind::Arrow(_) => self.rows,
        }
    }

    /// Completes the output.
    ///
    /// # Errors
    /// The output fails.
    pub fn finish(self) -> Result<(), EngineError> {
        match self.kind {
            Kind::Plans(mut to) => to.flush().map_err(EngineError::Output),
            Kind::Table(writer) => writer.finish(),
            Kind::Csv(writer) => writer.into_inner().flush().map_err(EngineError::Output),
            Kind::Json(mut writer) => {
                writer.finish().map_err(of_arrow)?;
                writer.into_inner().flush().map_err(EngineError::Output)
            }
            Kind::Arrow(mut writer) => {
                writer.finish().map_err(of_arrow)?;
                writer.get_mut().flush().map_err(EngineError::Output)
            }
            Kind::Parquet(writer) => {
                writer.into_inner().map_err(of_parquet)?.flush().map_err(EngineError::Output)
            }
        }
    }
}

/// Rejects lists and structs, which CSV can't represent, before a header is written.
fn check_is_flat(schema: &Schema) -> Result<(), EngineError> {
    let is_nested = |data_type: &DataType| match data_type {
        DataType::Dictionary(_, values) => values.is_nested(),
        other => other.is_nested(),
    };
    match schema.fields().iter().find(|field| is_nested(field.data_type())) {
        Some(field) => Err(EngineError::Nested {
            column: field.name().clone(),
            data_type: field.data_type().to_string(),
        }),
        None => Ok(()),
    }
}

/// Tries the writer with a row of each column, because it rejects types only after it has begun the
/// file.
fn check_is_for_parquet(schema: &Schema) -> Result<(), EngineError> {
    for field in schema.fields() {
        if let Err(error) = write_one(field) {
            return Err(EngineError::NoParquet {
                column: field.name().clone(),
                data_type: field.data_type().to_string(),
                why: error.to_string(),
            });
        }
    }
    Ok(())
}

fn write_one(field: &Field) -> Result<(), ParquetError> {
    let nullable = field.clone().with_nullable(true);
    let value = new_null_array(nullable.data_type(), 1);
    let row = RecordBatch::try_new(Arc::new(Schema::new(vec![nullable])), vec![value])?;
    let mut writer = ArrowWriter::try_new(std::io::sink(), row.schema(), None)?;
    writer.write(&row)?;
    writer.close()?;
    Ok(())
}

/// Returns true for output of EXPLAIN, whose lines are too long for a table.
fn is_plans(schema: &Schema) -> bool {
    let columns = schema.fields().iter().map(|field| (field.name().as_str(), field.data_type()));
    columns.eq([("plan_type", &DataType::Utf8), ("plan", &DataType::Utf8)])
}

/// Formats each plan as a paragraph.
fn plans(rows: &RecordBatch) -> String {
    let mut text = String::new();
    let [kinds, plans] = rows.columns() else { return text };
    for (kind, plan) in kinds.as_string::<i32>().iter().zip(plans.as_string::<i32>()) {
        let (kind, plan) = (kind.unwrap_or_default(), plan.unwrap_or_default());
        let _ = writeln!(text, "{kind}\n{}\n", plan.trim_end());
    }
    text
}

fn of_arrow(error: ArrowError) -> EngineError {
    EngineError::Output(match error {
        ArrowError::IoError(_, source) => source,
        error => std::io::Error::other(error),
    })
}

pub(crate) fn of_parquet(error: ParquetError) -> EngineError {
    match error {
        ParquetError::External(source) => match source.downcast::<std::io::Error>() {
            Ok(source) => EngineError::Output(*source),
            Err(source) => EngineError::Output(std::io::Error::other(source)),
        },
        error => EngineError::Output(std::io::Error::other(error)),
    }
}

impl<W: Write + Send> std::fmt::Debug for RowWriter<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RowWriter").finish_non_exhaustive()
    }
}
