//! Values in the format of the files: `NULL`, `(empty)` for an empty text, floating-point numbers
//! with twelve digits.

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::{Float32Type, Float64Type};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Schema};
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use sqllogictest::DefaultColumnType;

pub(super) fn types(schema: &Arc<Schema>) -> Vec<DefaultColumnType> {
    schema.fields().iter().map(|field| kind(field.data_type())).collect()
}

fn kind(data_type: &DataType) -> DefaultColumnType {
    match data_type {
        data_type if data_type.is_integer() => DefaultColumnType::Integer,
        data_type if data_type.is_floating() || data_type.is_decimal() => DefaultColumnType::FloatingPoint,
        _ => DefaultColumnType::Text,
    }
}

pub(super) fn rows(batch: &RecordBatch) -> Vec<Vec<String>> {
    let columns: Vec<Vec<String>> = batch.columns().iter().map(column).collect();
    (0..batch.num_rows()).map(|row| columns.iter().map(|column| column[row].clone()).collect()).collect()
}

fn column(array: &ArrayRef) -> Vec<String> {
    let or_null = |value: Option<f64>| value.map_or_else(|| "NULL".to_owned(), float);
    match array.data_type() {
        DataType::Float64 => array.as_primitive::<Float64Type>().iter().map(or_null).collect(),
        DataType::Float32 => {
            array.as_primitive::<Float32Type>().iter().map(|value| or_null(value.map(f64::from))).collect()
        }
        data_type => {
            let options = FormatOptions::default().with_null("NULL");
            let formatter = ArrayFormatter::try_new(array, &options).unwrap();
            let cells = (0..array.len()).map(|row| formatter.value(row).to_string());
            let is_time = matches!(data_type, DataType::Timestamp(..));
            cells.map(|cell| if is_time { without_zeros(&cell) } else { text(cell) }).collect()
        }
    }
}

/// Makes an empty text visible.
pub(super) fn text(cell: String) -> String {
    if cell.is_empty() { "(empty)".to_owned() } else { cell }
}

/// Removes trailing zeros of a fraction of a second.
fn without_zeros(time: &str) -> String {
    if time.contains('.') {
        time.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        time.to_owned()
    }
}

/// Rounds to the digits that sums in any order share.
pub(super) fn float(value: f64) -> String {
    let rounded: f64 = format!("{value:.11e}").parse().unwrap();
    // Maps -0.0 to 0.0.
    (rounded + 0.0).to_string()
}
