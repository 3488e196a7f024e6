//! Values in PostgreSQL's text and binary formats ("Formats and Format Codes" of its manual). This
//! writes composite values and the numbers that `arrow-pg` can't; `arrow-pg` writes the rest.

mod decimal;
mod nested;

use arrow_array::cast::AsArray as _;
use arrow_array::types::{Float32Type, Float64Type};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_pg::encoder::{Encoder, encode_value};
use arrow_schema::{DataType, FieldRef};
use bytes::{BufMut as _, BytesMut};
use pgwire::api::Type;
use pgwire::api::results::{FieldFormat, FieldInfo};
use pgwire::error::PgWireResult;
use pgwire::messages::data::DataRow;
use pgwire::types::ToSqlText;
use postgres_types::{IsNull, Kind, ToSql};

use decimal::Decimal;

/// Length that marks a NULL.
const NULL: i32 = -1;

/// Writes rows of batches with the same columns.
pub(super) struct RowWriter(Vec<Column>);

/// Writer of a column or a part of one.
struct Column {
    field: FieldRef,
    sent: FieldInfo,
    /// Fields of a struct, or the element of a list.
    parts: Vec<Self>,
}

impl RowWriter {
    pub(super) fn new(batch: &RecordBatch, sent: &[FieldInfo]) -> Self {
        let columns = batch.schema_ref().fields().iter().zip(sent);
        Self(columns.map(|(field, sent)| Column::new(field, sent.clone())).collect())
    }

    /// Writes one row of a batch.
    pub(super) fn row(&self, batch: &RecordBatch, row: usize) -> PgWireResult<DataRow> {
        let mut bytes = BytesMut::new();
        for (column, values) in self.0.iter().zip(batch.columns()) {
            sized(&mut bytes, |bytes| column.write(values, row, bytes))?;
        }
        Ok(DataRow::new(bytes, i16::try_from(self.0.len()).unwrap_or(i16::MAX)))
    }
}

impl Column {
    fn new(field: &FieldRef, sent: FieldInfo) -> Self {
        let part = |field: &FieldRef, of: &Type| {
            let part = FieldInfo::new(field.name().clone(), None, None, of.clone(), sent.format());
            Self::new(field, part.with_format_options(sent.format_options().clone()))
        };
        let parts = match (field.data_type(), sent.datatype().kind()) {
            (DataType::Struct(fields), Kind::Composite(types)) => {
                fields.iter().zip(types).map(|(field, of)| part(field, of.type_())).collect()
            }
            (
                DataType::List(element) | DataType::LargeList(element) | DataType::FixedSizeList(element, _),
                Kind::Array(of),
            ) => vec![part(element, of)],
            _ => Vec::new(),
        };
        Self { field: FieldRef::clone(field), sent, parts }
    }

    fn is_text(&self) -> bool {
        self.sent.format() == FieldFormat::Text
    }

    /// Appends a value. Returns false for NULL.
    fn write(&self, values: &ArrayRef, row: usize, bytes: &mut BytesMut) -> PgWireResult<bool> {
        if values.is_null(row) {
            return Ok(false);
        }
        match values.data_type() {
            DataType::Null => return Ok(false),
            DataType::Float32 if self.is_text() => {
                let value = values.as_primitive::<Float32Type>().value(row);
                return self.write_unless_word(word(value.into()), values, row, bytes);
            }
            DataType::Float64 if self.is_text() => {
                let value = values.as_primitive::<Float64Type>().value(row);
                return self.write_unless_word(word(value), values, row, bytes);
            }
            DataType::Decimal128(..) | DataType::Decimal256(..) => {
                let Some(number) = Decimal::of(values, row) else {
                    return self.write_plain(values, row, bytes);
                };
                if self.is_text() {
                    bytes.put_slice(number.to_string().as_bytes());
                } else {
                    number.put(bytes);
                }
            }
            DataType::Struct(_) if !self.parts.is_empty() => self.write_struct(values, row, bytes)?,
            DataType::List(_) | DataType::LargeList(_) | DataType::FixedSizeList(..)
                if !self.parts.is_empty() =>
            {
                self.write_list(values, row, bytes)?;
            }
            _ => return self.write_plain(values, row, bytes),
        }
        Ok(true)
    }

    fn write_unless_word(
        &self,
        word: Option<&str>,
        values: &ArrayRef,
        row: usize,
        bytes: &mut BytesMut,
    ) -> PgWireResult<bool> {
        match word {
            Some(word) => {
                bytes.put_slice(word.as_bytes());
                Ok(true)
            }
            None => self.write_plain(values, row, bytes),
        }
    }

    fn write_plain(&self, values: &ArrayRef, row: usize, bytes: &mut BytesMut) -> PgWireResult<bool> {
        let mut plain = Plain { bytes, is_value: false };
        encode_value(&mut plain, values, row, &self.field, &self.sent)?;
        Ok(plain.is_value)
    }
}

/// Name of a number without digits.
fn word(value: f64) -> Option<&'static str> {
    match value {
        f64::INFINITY => Some("Infinity"),
        f64::NEG_INFINITY => Some("-Infinity"),
        value if value.is_nan() => Some("NaN"),
        _ => None,
    }
}

/// Appends a value, preceded by its length.
fn sized(bytes: &mut BytesMut, append: impl FnOnce(&mut BytesMut) -> PgWireResult<bool>) -> PgWireResult<()> {
    let at = bytes.len();
    bytes.put_i32(NULL);
    let begin = bytes.len();
    if append(bytes)? {
        let length = i32::try_from(bytes.len() - begin).map_err(|_| {
            super::errors::with_code(super::errors::PROGRAM_LIMIT, "a value has more than 2 GiB")
        })?;
        if let Some(place) = bytes.get_mut(at..begin) {
            place.copy_from_slice(&length.to_be_bytes());
        }
    }
    Ok(())
}

/// Receives a value from `arrow-pg`.
struct Plain<'a> {
    bytes: &'a mut BytesMut,
    is_value: bool,
}

impl Encoder for Plain<'_> {
    type Item = ();

    fn encode_field<T: ToSql + ToSqlText>(&mut self, value: &T, sent: &FieldInfo) -> PgWireResult<()> {
        let is_null = match sent.format() {
            FieldFormat::Text => value.to_sql_text(sent.datatype(), self.bytes, sent.format_options())?,
            FieldFormat::Binary => value.to_sql(sent.datatype(), self.bytes)?,
        };
        self.is_value = matches!(is_null, IsNull::No);
        Ok(())
    }

    fn take_row(&mut self) {}
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::builder::{Int32Builder, ListBuilder};
    use arrow_array::{Decimal128Array, Float64Array, Int32Array, StringArray, StructArray};
    use arrow_schema::Field;
    use pgwire::api::portal::Format;

    use super::*;
    use crate::serve::pg::rows::fields;

    /// Values of a row in a format, without lengths; `None` for NULL.
    fn row(columns: Vec<(&str, ArrayRef)>, format: i16, row: usize) -> Vec<Option<Vec<u8>>> {
        let batch = RecordBatch::try_from_iter_with_nullable(
            columns.into_iter().map(|(name, column)| (name, column, true)),
        )
        .unwrap();
        let format = if format == 0 { Format::UnifiedText } else { Format::UnifiedBinary };
        let sent = fields(&batch.schema(), &format).unwrap();
        let DataRow { mut data, field_count, .. } = RowWriter::new(&batch, &sent).row(&batch, row).unwrap();
        let value = |_| {
            let length = i32::from_be_bytes(data.split_to(4).to_vec().try_into().unwrap());
            usize::try_from(length).ok().map(|length| data.split_to(length).to_vec())
        };
        (0..field_count).map(value).collect()
    }

    fn texts(columns: Vec<(&str, ArrayRef)>, number: usize) -> Vec<Option<String>> {
        row(columns, 0, number)
            .into_iter()
            .map(|value| value.map(|text| String::from_utf8(text).unwrap()))
            .collect()
    }

    #[test]
    fn infinity_has_postgresqls_name() {
        let numbers: ArrayRef =
            Arc::new(Float64Array::from(vec![f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1.5]));
        let text = |number| texts(vec![("f", Arc::clone(&numbers))], number)[0].clone().unwrap();
        assert_eq!([0, 1, 2, 3].map(text), ["Infinity", "-Infinity", "NaN", "1.5"]);
    }

    #[test]
    fn nulls_of_structs_and_lists_are_nulls_and_empty_texts_are_texts() {
        let point = StructArray::from(vec![
            (
                Arc::new(Field::new("x", DataType::Int32, true)),
                Arc::new(Int32Array::from(vec![Some(1), None])) as ArrayRef,
            ),
            (
                Arc::new(Field::new("label", DataType::Utf8, true)),
                Arc::new(StringArray::from(vec![Some(""), Some("a \"b\"\\, (c)")])) as ArrayRef,
            ),
            (
                Arc::new(Field::new("none", DataType::Utf8, true)),
                Arc::new(StringArray::from(vec![None::<&str>, None])) as ArrayRef,
            ),
        ]);
        let mut list = ListBuilder::new(Int32Builder::new());
        list.append_value([Some(1), None]);
        list.append_value([]);
        let columns = || -> Vec<(&str, ArrayRef)> {
            vec![("p", Arc::new(point.clone())), ("l", Arc::new(list.finish_cloned()))]
        };
        assert_eq!(texts(columns(), 0), [Some("(1,\"\",)".to_owned()), Some("{1,NULL}".to_owned())]);
        assert_eq!(
            texts(columns(), 1),
            [Some("(,\"a \"\"b\"\"\\\\, (c)\",)".to_owned()), Some("{}".to_owned())]
        );
        let binary = row(columns(), 1, 0);
        let point = binary[0].as_ref().unwrap();
        assert_eq!(point[..4], 3_i32.to_be_bytes());
        assert_eq!(point[point.len() - 4..], NULL.to_be_bytes(), "the last one is null");
        let list = binary[1].as_ref().unwrap();
        assert_eq!(list[..8], [0, 0, 0, 1, 0, 0, 0, 1], "one dimension, with nulls");
        assert_eq!(list[list.len() - 4..], NULL.to_be_bytes());
        assert_eq!(row(columns(), 1, 1)[1].as_ref().unwrap()[..8], [0; 8], "it is empty");
    }

    #[test]
    fn decimals_have_all_their_digits() {
        let digits = 12_345_678_901_234_567_890_123_456_789_012_345_678_i128;
        let column = |scale| -> ArrayRef {
            let numbers = Decimal128Array::from(vec![digits, -digits]);
            Arc::new(numbers.with_precision_and_scale(38, scale).unwrap())
        };
        let columns = || vec![("whole", column(0)), ("cents", column(2)), ("all", column(38))];
        let text = texts(columns(), 1);
        assert_eq!(text[0].as_deref(), Some("-12345678901234567890123456789012345678"));
        assert_eq!(text[1].as_deref(), Some("-123456789012345678901234567890123456.78"));
        assert_eq!(text[2].as_deref(), Some("-0.12345678901234567890123456789012345678"));
    }
}
