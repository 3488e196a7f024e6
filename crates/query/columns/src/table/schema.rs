use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{DataType, Field, Schema, SchemaRef, TimeUnit};

use crate::ColumnsError;

/// Returns the index of a column.
pub(super) fn place(schema: &Schema, column: &str) -> Result<usize, ColumnsError> {
    schema.index_of(column).map_err(|_| ColumnsError::UnknownColumn {
        file: String::new(),
        column: column.to_owned(),
        known: schema.fields().iter().map(|field| field.name().clone()).collect(),
    })
}

/// Selects columns in the given order.
pub(super) fn select(schema: &Schema, columns: &[String]) -> Result<SchemaRef, ColumnsError> {
    let fields = columns.iter().map(|column| place(schema, column).map(|place| schema.field(place).clone()));
    Ok(Arc::new(Schema::new(fields.collect::<Result<Vec<_>, _>>()?)))
}

/// Checks that Parquet has a type for a column; otherwise other tools would see plain numbers.
pub(super) fn check_known_to_parquet(field: &Field) -> Result<(), ColumnsError> {
    use DataType::{Date64, Duration, Interval, Time32, Timestamp};
    let why = match field.data_type() {
        Timestamp(TimeUnit::Second, _) | Time32(TimeUnit::Second) => {
            "Parquet has no times in seconds; use milliseconds"
        }
        Date64 => "Parquet has no dates in milliseconds; use Date32 or a timestamp",
        Duration(_) | Interval(_) => "Parquet has no such type that other tools know; use a number",
        _ => return Ok(()),
    };
    Err(ColumnsError::Unsupported { file: String::new(), column: field.name().clone(), why: why.to_owned() })
}

/// Checks that rows have a table's columns: names, order, types and nullability.
pub(super) fn check(expected: &Schema, batch: &RecordBatch) -> Result<(), ColumnsError> {
    let got = batch.schema();
    let wrong = |column: &str, got: String, expected: String| ColumnsError::Schema {
        file: String::new(),
        column: column.to_owned(),
        got,
        expected,
    };
    for (number, field) in expected.fields().iter().enumerate() {
        let Some(other) = got.fields().get(number) else {
            return Err(wrong(field.name(), "missing".to_owned(), field.data_type().to_string()));
        };
        if other.name() != field.name() {
            return Err(wrong(
                field.name(),
                format!("missing (`{}`, {}, is in its place)", other.name(), other.data_type()),
                field.data_type().to_string(),
            ));
        }
        if other.data_type() != field.data_type() {
            return Err(wrong(field.name(), other.data_type().to_string(), field.data_type().to_string()));
        }
        let nulls = batch.columns().get(number).map_or(0, |array| array.logical_null_count());
        if !field.is_nullable() && nulls > 0 {
            return Err(wrong(field.name(), format!("null in {nulls} rows"), "no nulls".to_owned()));
        }
    }
    match got.fields().get(expected.fields().len()) {
        Some(more) => Err(wrong(more.name(), more.data_type().to_string(), "no such column".to_owned())),
        None => Ok(()),
    }
}
