//! Values as JSON, whose keys are always texts.

use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::{Array as _, ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, FieldRef, Schema};
use datafusion::arrow::compute::{CastOptions, cast_with_options};
use datafusion::arrow::error::ArrowError;
use datafusion::arrow::json::EncoderOptions;
use datafusion::arrow::json::writer::make_encoder;
use datafusion::common::DataFusionError;

use crate::EngineError;

/// Converts each value to a text of JSON; missing fields of structs are null.
///
/// # Errors
/// JSON can't represent values of this type.
pub fn json_texts(values: &ArrayRef) -> Result<ArrayRef, EngineError> {
    let texts = texts(values).map_err(|error| DataFusionError::ArrowError(Box::new(error), None))?;
    Ok(texts)
}

fn texts(values: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    let values = with_text_keys(values)?;
    let field = Arc::new(Field::new("value", values.data_type().clone(), true));
    let options = EncoderOptions::default().with_explicit_nulls(true);
    let mut encoder = make_encoder(&field, &values, &options)?;
    let (mut texts, mut bytes) = (StringBuilder::new(), Vec::new());
    for row in 0..values.len() {
        if values.is_null(row) {
            texts.append_null();
            continue;
        }
        bytes.clear();
        encoder.encode(row, &mut bytes);
        texts.append_value(str::from_utf8(&bytes).map_err(|error| ArrowError::JsonError(error.to_string()))?);
    }
    Ok(Arc::new(texts.finish()))
}

/// Converts keys of maps to texts.
pub(super) fn rows_with_text_keys(rows: &RecordBatch) -> Result<RecordBatch, ArrowError> {
    let columns = rows.columns().iter().map(with_text_keys).collect::<Result<Vec<_>, _>>()?;
    let fields = rows.schema_ref().fields().iter().zip(&columns);
    let fields = fields.map(|(field, column)| Field::clone(field).with_data_type(column.data_type().clone()));
    RecordBatch::try_new(Arc::new(Schema::new(fields.collect::<Vec<_>>())), columns)
}

/// Returns true if a map has keys other than texts.
pub(super) fn has_other_keys(schema: &Schema) -> bool {
    schema.fields().iter().any(|field| type_with_text_keys(field.data_type()).is_some())
}

fn with_text_keys(values: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    match type_with_text_keys(values.data_type()) {
        // A key that can't be converted is an error, not null.
        Some(other) => {
            cast_with_options(values, &other, &CastOptions { safe: false, ..CastOptions::default() })
        }
        None => Ok(Arc::clone(values)),
    }
}

/// Returns the type with texts as keys of maps; `None` if it has them already.
fn type_with_text_keys(of: &DataType) -> Option<DataType> {
    match of {
        DataType::Map(entries, is_sorted) => {
            let DataType::Struct(parts) = entries.data_type() else { return None };
            let [key, value] = &**parts else { return None };
            let is_text =
                matches!(key.data_type(), DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View);
            let other_key = (!is_text).then(|| Arc::new(Field::clone(key).with_data_type(DataType::Utf8)));
            let other_value = field_with_text_keys(value);
            let is_other = other_key.is_some() || other_value.is_some();
            let parts = vec![
                other_key.unwrap_or_else(|| Arc::clone(key)),
                other_value.unwrap_or_else(|| Arc::clone(value)),
            ];
            let entries = Field::clone(entries).with_data_type(DataType::Struct(parts.into()));
            is_other.then(|| DataType::Map(Arc::new(entries), *is_sorted))
        }
        DataType::List(element) => field_with_text_keys(element).map(DataType::List),
        DataType::LargeList(element) => field_with_text_keys(element).map(DataType::LargeList),
        DataType::FixedSizeList(element, length) => {
            field_with_text_keys(element).map(|element| DataType::FixedSizeList(element, *length))
        }
        DataType::Struct(parts) => {
            let others: Vec<_> = parts.iter().map(field_with_text_keys).collect();
            let is_other = others.iter().any(Option::is_some);
            let parts =
                others.into_iter().zip(parts).map(|(other, part)| other.unwrap_or_else(|| Arc::clone(part)));
            is_other.then(|| DataType::Struct(parts.collect()))
        }
        _ => None,
    }
}

fn field_with_text_keys(field: &FieldRef) -> Option<FieldRef> {
    let other = type_with_text_keys(field.data_type())?;
    Some(Arc::new(Field::clone(field).with_data_type(other)))
}

#[cfg(test)]
mod tests {
    use arrow_array::builder::{BinaryBuilder, Int32Builder, ListBuilder, MapBuilder};
    use arrow_array::cast::AsArray as _;

    use super::*;

    #[test]
    fn a_key_that_is_no_text_is_an_error() {
        let mut maps = MapBuilder::new(None, BinaryBuilder::new(), Int32Builder::new());
        maps.keys().append_value([0xff]);
        maps.values().append_value(7);
        maps.append(true).unwrap();
        let maps: ArrayRef = Arc::new(maps.finish());
        let error = json_texts(&maps).unwrap_err().to_string();
        assert!(error.contains("UTF8") || error.contains("utf-8"), "{error}");
    }

    #[test]
    fn keys_are_texts_and_what_is_not_there_is_null() {
        let mut maps = MapBuilder::new(None, Int32Builder::new(), ListBuilder::new(Int32Builder::new()));
        maps.keys().append_value(7);
        maps.values().append_value([Some(1), None]);
        maps.keys().append_value(8);
        maps.values().append_null();
        maps.append(true).unwrap();
        maps.append(true).unwrap();
        maps.append(false).unwrap();
        let maps: ArrayRef = Arc::new(maps.finish());
        let texts = json_texts(&maps).unwrap();
        let texts: Vec<_> = texts.as_string::<i32>().iter().collect();
        assert_eq!(texts, [Some(r#"{"7":[1,null],"8":null}"#), Some("{}"), None]);
    }
}
