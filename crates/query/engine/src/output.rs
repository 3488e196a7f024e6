//! Rows as text or files.

use std::fmt::Write as _;
use std::io::Write;

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray as _;
use arrow_schema::Schema;
use datafusion::arrow::csv;
use datafusion::arrow::error::ArrowError;
use datafusion::arrow::ipc::writer::StreamWriter;
use datafusion::arrow::json::LineDelimitedWriter;
use datafusion::arrow::util::pretty::pretty_format_batches;
use parquet::arrow::ArrowWriter;
use parquet::errors::ParquetError;

use crate::EngineError;

/// How rows are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Aligned, for people. All rows are held until the last.
    Table,
    /// With a header.
    Csv,
    /// An object for each row, on a line of its own.
    Json,
    /// Arrow's IPC stream.
    Arrow,
    /// A Parquet file.
    Parquet,
}

/// Writes rows as they come.
pub struct RowWriter<W: Write + Send>(Kind<W>);

enum Kind<W: Write + Send> {
    Table(W, Vec<RecordBatch>),
    Csv(Box<csv::Writer<W>>),
    Json(Box<LineDelimitedWriter<W>>),
    Arrow(Box<StreamWriter<W>>),
    Parquet(Box<ArrowWriter<W>>),
}

impl<W: Write + Send> RowWriter<W> {
    /// Writes rows of these columns.
    ///
    /// # Errors
    /// They can't be written, or columns can't be written so.
    pub fn new(mut to: W, format: Format, schema: &Schema) -> Result<Self, EngineError> {
        Ok(Self(match format {
            Format::Table => Kind::Table(to, Vec::new()),
            Format::Csv => {
                // A header is due without rows, too.
                let mut names = csv::WriterBuilder::new().with_header(true).build(&mut to);
                names.write(&RecordBatch::new_empty(schema.clone().into())).map_err(of_arrow)?;
                drop(names);
                Kind::Csv(Box::new(csv::WriterBuilder::new().with_header(false).build(to)))
            }
            Format::Json => Kind::Json(Box::new(LineDelimitedWriter::new(to))),
            Format::Arrow => Kind::Arrow(Box::new(StreamWriter::try_new(to, schema).map_err(of_arrow)?)),
            Format::Parquet => {
                let writer = ArrowWriter::try_new(to, schema.clone().into(), None).map_err(of_parquet)?;
                Kind::Parquet(Box::new(writer))
            }
        }))
    }

    /// Writes some rows.
    ///
    /// # Errors
    /// They can't be written.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<(), EngineError> {
        match &mut self.0 {
            Kind::Table(_, held) => {
                held.push(batch.clone());
                Ok(())
            }
            Kind::Csv(writer) => writer.write(batch).map_err(of_arrow),
            Kind::Json(writer) => writer.write(batch).map_err(of_arrow),
            Kind::Arrow(writer) => writer.write(batch).map_err(of_arrow),
            Kind::Parquet(writer) => writer.write(batch).map_err(of_parquet),
        }
    }

    /// Ends what is written.
    ///
    /// # Errors
    /// It can't be written.
    pub fn finish(self) -> Result<(), EngineError> {
        match self.0 {
            Kind::Table(mut to, held) => {
                let text = match plans(&held) {
                    Some(plans) => plans,
                    None => format!("{}\n", pretty_format_batches(&held).map_err(of_arrow)?),
                };
                to.write_all(text.as_bytes()).and_then(|()| to.flush()).map_err(EngineError::Output)
            }
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

/// What EXPLAIN says, a paragraph for each plan: its lines are longer than any table's column should be.
fn plans(rows: &[RecordBatch]) -> Option<String> {
    let mut text = String::new();
    for batch in rows {
        let schema = batch.schema();
        let names = schema.fields().iter().map(|field| field.name().as_str());
        if !names.eq(["plan_type", "plan"]) {
            return None;
        }
        let [kinds, plans] = batch.columns() else { return None };
        for (kind, plan) in kinds.as_string_opt::<i32>()?.iter().zip(plans.as_string_opt::<i32>()?) {
            let (kind, plan) = (kind.unwrap_or_default(), plan.unwrap_or_default());
            let _ = writeln!(text, "{kind}\n{}\n", plan.trim_end());
        }
    }
    (!text.is_empty()).then_some(text)
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
