//! Conversion of columns whose types can't be sent to the nearest type that can. Maps, lists of
//! lists, and lists that contain either become JSON: PostgreSQL has no maps, and its
//! multidimensional arrays are rectangular.

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::{Array as _, ArrayRef, RecordBatch, StructArray};
use arrow_cast::cast;
use arrow_schema::{ArrowError, DECIMAL128_MAX_PRECISION, DataType, Field, FieldRef, Schema};
use nandle_engine::{EngineError, json_texts};

/// Type that columns are sent as, if different.
fn sent_as(of: &DataType) -> Option<DataType> {
    match of {
        // The protocol's smallest integer has 16 bits.
        DataType::Int8 | DataType::UInt8 => Some(DataType::Int16),
        DataType::FixedSizeBinary(_) => Some(DataType::Binary),
        DataType::Float16 => Some(DataType::Float32),
        DataType::Decimal32(digits, scale) | DataType::Decimal64(digits, scale) => {
            Some(DataType::Decimal128(*digits, *scale))
        }
        other if is_json(other) => Some(DataType::Utf8),
        DataType::Dictionary(_, values) if is_written_here(values) => Some((**values).clone()),
        other => of_parts(other, &sent_as),
    }
}

/// Returns true if values of a type are sent as JSON.
pub(super) fn is_json(of: &DataType) -> bool {
    match of {
        DataType::Map(..) => true,
        DataType::List(element) | DataType::LargeList(element) | DataType::FixedSizeList(element, _) => {
            is_list(element.data_type()) || has_json(element.data_type())
        }
        _ => false,
    }
}

fn is_list(of: &DataType) -> bool {
    matches!(of, DataType::List(_) | DataType::LargeList(_) | DataType::FixedSizeList(..))
}

fn has_json(of: &DataType) -> bool {
    match of {
        DataType::Struct(fields) => fields.iter().any(|field| has_json(field.data_type())),
        other => is_json(other),
    }
}

/// Returns true if `arrow-pg` can't write all values of the type.
fn is_written_here(of: &DataType) -> bool {
    of.is_nested() || of.is_floating() || of.is_decimal() || sent_as(of).is_some()
}

/// The type with converted parts; `None` if no part changes.
fn of_parts(of: &DataType, other: &dyn Fn(&DataType) -> Option<DataType>) -> Option<DataType> {
    let part = |field: &FieldRef| {
        other(field.data_type()).map(|sent| Arc::new(Field::clone(field).with_data_type(sent)))
    };
    match of {
        DataType::Struct(fields) => {
            let parts: Vec<Option<FieldRef>> = fields.iter().map(part).collect();
            let is_other = parts.iter().any(Option::is_some);
            let parts = parts.into_iter().zip(fields);
            let fields = parts.map(|(part, field)| part.unwrap_or_else(|| Arc::clone(field)));
            is_other.then(|| DataType::Struct(fields.collect()))
        }
        DataType::List(element) => part(element).map(DataType::List),
        DataType::LargeList(element) => part(element).map(DataType::LargeList),
        DataType::FixedSizeList(element, length) => {
            part(element).map(|element| DataType::FixedSizeList(element, *length))
        }
        _ => None,
    }
}

/// Described type, if different: there is only one decimal type, of any length.
fn described_as(of: &DataType) -> Option<DataType> {
    match of {
        DataType::Decimal256(..) => Some(DataType::Decimal128(DECIMAL128_MAX_PRECISION, 0)),
        other => of_parts(other, &described_as),
    }
}

/// Columns as sent.
fn sent_schema(schema: &Schema) -> Schema {
    with_types(schema, sent_as)
}

/// Columns as described to clients.
pub(super) fn described_schema(schema: &Schema) -> Schema {
    with_types(&sent_schema(schema), described_as)
}

fn with_types(schema: &Schema, other: impl Fn(&DataType) -> Option<DataType>) -> Schema {
    let field = |field: &FieldRef| match other(field.data_type()) {
        Some(other) => Arc::new(Field::clone(field).with_data_type(other)),
        None => Arc::clone(field),
    };
    Schema::new(schema.fields().iter().map(field).collect::<Vec<_>>())
}

/// Rows as sent.
pub(super) fn sent_rows(batch: RecordBatch) -> Result<RecordBatch, EngineError> {
    if batch.schema().fields().iter().all(|field| sent_as(field.data_type()).is_none()) {
        return Ok(batch);
    }
    let columns = batch.columns().iter().map(sent_column).collect::<Result<_, _>>()?;
    RecordBatch::try_new(Arc::new(sent_schema(&batch.schema())), columns).map_err(of_arrow)
}

fn sent_column(column: &ArrayRef) -> Result<ArrayRef, EngineError> {
    let Some(sent) = sent_as(column.data_type()) else { return Ok(Arc::clone(column)) };
    match &sent {
        _ if is_json(column.data_type()) => json_texts(column),
        DataType::Struct(fields) => {
            let whole = column.as_struct();
            let parts = whole.columns().iter().map(sent_column).collect::<Result<_, _>>()?;
            let whole = StructArray::try_new(fields.clone(), parts, whole.nulls().cloned());
            Ok(Arc::new(whole.map_err(of_arrow)?))
        }
        sent => cast(column, sent).map_err(of_arrow),
    }
}

fn of_arrow(error: ArrowError) -> EngineError {
    EngineError::Output(std::io::Error::other(error))
}

#[cfg(test)]
mod tests {
    use arrow_array::builder::{Int32Builder, ListBuilder};
    use arrow_array::{FixedSizeBinaryArray, Int64Array};

    use super::*;

    #[test]
    fn bytes_of_fixed_length_are_bytes() {
        let bytes = FixedSizeBinaryArray::try_from_iter([b"ab", b"cd"].into_iter()).unwrap();
        let columns: [(&str, ArrayRef); 2] =
            [("bytes", Arc::new(bytes)), ("number", Arc::new(Int64Array::from(vec![1, 2])))];
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let sent = sent_rows(batch.clone()).unwrap();
        assert_eq!(sent.column(0).as_binary::<i32>().value(1), b"cd");
        assert_eq!(sent.column(1), batch.column(1));
        assert_eq!(*sent.schema(), sent_schema(&batch.schema()));
    }

    #[test]
    fn lists_of_lists_are_json_wherever_they_are() {
        let mut lists = ListBuilder::new(ListBuilder::new(Int32Builder::new()));
        lists.values().append_value([Some(1), Some(2)]);
        lists.values().append_value([None::<i32>]);
        lists.append(true);
        lists.append(false);
        let lists: ArrayRef = Arc::new(lists.finish());
        let field = Arc::new(Field::new("lists", lists.data_type().clone(), true));
        let point: ArrayRef = Arc::new(StructArray::from(vec![(field, Arc::clone(&lists))]));
        let batch =
            RecordBatch::try_from_iter_with_nullable([("l", lists, true), ("p", point, true)]).unwrap();
        let sent = sent_rows(batch).unwrap();
        for texts in [sent.column(0), sent.column(1).as_struct().column(0)] {
            assert_eq!(texts.as_string::<i32>().iter().collect::<Vec<_>>(), [Some("[[1,2],[null]]"), None]);
        }
    }
}
