//! Structs and lists. Elements are written as by themselves, and quoted where ambiguous.

use arrow_array::cast::AsArray as _;
use arrow_array::{Array as _, ArrayRef};
use arrow_schema::DataType;
use bytes::{BufMut as _, BytesMut};
use pgwire::error::PgWireResult;

use super::{Column, sized};

impl Column {
    /// Text `(1,,"a b")`; or binary: the number of fields, and the type and value of each.
    pub(super) fn write_struct(
        &self,
        values: &ArrayRef,
        row: usize,
        bytes: &mut BytesMut,
    ) -> PgWireResult<()> {
        let parts = self.parts.iter().zip(values.as_struct().columns());
        if self.is_text() {
            bytes.put_u8(b'(');
            for (number, (part, values)) in parts.enumerate() {
                if number > 0 {
                    bytes.put_u8(b',');
                }
                let mut text = BytesMut::new();
                if part.write(values, row, &mut text)? {
                    put_quoted(bytes, &text, is_quoted_in_struct(&text), b'"');
                }
            }
            bytes.put_u8(b')');
            return Ok(());
        }
        bytes.put_i32(count(self.parts.len()));
        for (part, values) in parts {
            bytes.put_u32(part.sent.datatype().oid());
            sized(bytes, |bytes| part.write(values, row, bytes))?;
        }
        Ok(())
    }

    /// Text `{1,NULL}`; or binary: the dimensions and the values.
    pub(super) fn write_list(&self, values: &ArrayRef, row: usize, bytes: &mut BytesMut) -> PgWireResult<()> {
        let Some(element) = self.parts.first() else { return Ok(()) };
        let values = elements(values, row);
        if self.is_text() {
            bytes.put_u8(b'{');
            for number in 0..values.len() {
                if number > 0 {
                    bytes.put_u8(b',');
                }
                let mut text = BytesMut::new();
                if element.write(&values, number, &mut text)? {
                    put_quoted(bytes, &text, is_quoted_in_list(&text), b'\\');
                } else {
                    bytes.put_slice(b"NULL");
                }
            }
            bytes.put_u8(b'}');
            return Ok(());
        }
        bytes.put_i32(i32::from(!values.is_empty()));
        bytes.put_i32(i32::from(values.null_count() > 0));
        bytes.put_u32(element.sent.datatype().oid());
        if !values.is_empty() {
            bytes.put_i32(count(values.len()));
            // Indices start at 1.
            bytes.put_i32(1);
        }
        (0..values.len()).try_for_each(|number| sized(bytes, |bytes| element.write(&values, number, bytes)))
    }
}

fn elements(values: &ArrayRef, row: usize) -> ArrayRef {
    match values.data_type() {
        DataType::LargeList(_) => values.as_list::<i64>().value(row),
        DataType::FixedSizeList(..) => values.as_fixed_size_list().value(row),
        _ => values.as_list::<i32>().value(row),
    }
}

fn count(number: usize) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}

fn is_quoted_in_struct(text: &[u8]) -> bool {
    text.is_empty() || text.iter().any(|byte| b"\"\\(),".contains(byte) || byte.is_ascii_whitespace())
}

fn is_quoted_in_list(text: &[u8]) -> bool {
    text.is_empty()
        || text.eq_ignore_ascii_case(b"NULL")
        || text.iter().any(|byte| b"\"\\{},".contains(byte) || byte.is_ascii_whitespace())
}

/// Appends text in quotes if needed. `mark` escapes quotes; a backslash is doubled.
fn put_quoted(bytes: &mut BytesMut, text: &[u8], is_quoted: bool, mark: u8) {
    if !is_quoted {
        bytes.put_slice(text);
        return;
    }
    bytes.put_u8(b'"');
    for byte in text {
        match byte {
            b'"' => bytes.put_u8(mark),
            b'\\' => bytes.put_u8(b'\\'),
            _ => {}
        }
        bytes.put_u8(*byte);
    }
    bytes.put_u8(b'"');
}
