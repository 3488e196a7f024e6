//! Columns of types that aren't sent as they are: those of the nearest type that is.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_cast::cast;
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Schema};

/// What columns of a type are sent as, if it isn't that type.
fn sent_as(of: &DataType) -> Option<DataType> {
    match of {
        // The least of the protocol's numbers has 16 bits.
        DataType::Int8 | DataType::UInt8 => Some(DataType::Int16),
        DataType::FixedSizeBinary(_) => Some(DataType::Binary),
        DataType::Float16 => Some(DataType::Float32),
        DataType::Decimal32(digits, scale) | DataType::Decimal64(digits, scale) => {
            Some(DataType::Decimal128(*digits, *scale))
        }
        // They may be longer than what is there for numbers.
        DataType::Decimal256(..) => Some(DataType::Utf8),
        _ => None,
    }
}

/// The columns as they are sent.
pub(super) fn sent_schema(schema: &Schema) -> Schema {
    let sent = |field: &FieldRef| match sent_as(field.data_type()) {
        Some(sent) => Arc::new(Field::clone(field).with_data_type(sent)),
        None => Arc::clone(field),
    };
    Schema::new(schema.fields().iter().map(sent).collect::<Vec<_>>())
}

/// Rows as they are sent.
pub(super) fn sent_rows(batch: RecordBatch) -> Result<RecordBatch, ArrowError> {
    if batch.schema().fields().iter().all(|field| sent_as(field.data_type()).is_none()) {
        return Ok(batch);
    }
    let sent = batch.columns().iter().map(|column| match sent_as(column.data_type()) {
        Some(sent) => cast(column, &sent),
        None => Ok(Arc::clone(column)),
    });
    RecordBatch::try_new(Arc::new(sent_schema(&batch.schema())), sent.collect::<Result<_, _>>()?)
}

#[cfg(test)]
mod tests {
    use arrow_array::cast::AsArray as _;
    use arrow_array::{ArrayRef, FixedSizeBinaryArray, Int64Array};

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
}
