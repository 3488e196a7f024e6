//! Texts of batches share buffers with those of other rows; what is held for long mustn't bring them with it.

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::ByteViewType;
use arrow_array::{Array as _, ArrayRef, GenericByteViewArray, RecordBatch};
use arrow_schema::DataType;
use datafusion::common::DataFusionError;

/// A batch whose buffers are more than so many times what its rows need is copied.
const WASTE: usize = 2;

/// The same rows, and about the bytes that they take.
pub(super) fn compact(batch: RecordBatch) -> Result<(RecordBatch, usize), DataFusionError> {
    let bytes = rows_bytes(&batch)?;
    if batch.get_array_memory_size() <= bytes.saturating_mul(WASTE) {
        return Ok((batch, bytes));
    }
    Ok((without_strange_texts(batch)?, bytes))
}

/// The same rows, whose buffers hold no texts but theirs.
pub(super) fn without_strange_texts(batch: RecordBatch) -> Result<RecordBatch, DataFusionError> {
    let column = |column: &ArrayRef| match column.data_type() {
        DataType::Utf8View => Arc::new(column.as_string_view().gc()) as ArrayRef,
        DataType::BinaryView => Arc::new(column.as_binary_view().gc()),
        _ => Arc::clone(column),
    };
    let columns = batch.columns().iter().map(column).collect();
    Ok(RecordBatch::try_new(batch.schema(), columns)?)
}

fn rows_bytes(batch: &RecordBatch) -> Result<usize, DataFusionError> {
    let mut bytes = 0;
    for column in batch.columns() {
        bytes += column.to_data().get_slice_memory_size()?;
        bytes += match column.data_type() {
            DataType::Utf8View => texts_bytes(column.as_string_view()),
            DataType::BinaryView => texts_bytes(column.as_binary_view()),
            _ => 0,
        };
    }
    Ok(bytes)
}

/// Texts that lie outside of what refers to them.
fn texts_bytes<T: ByteViewType + ?Sized>(texts: &GenericByteViewArray<T>) -> usize {
    const INLINE_BYTES_MAX: usize = 12;
    let lengths = texts.views().iter().map(|view| (*view & u128::from(u32::MAX)) as usize);
    lengths.filter(|length| *length > INLINE_BYTES_MAX).sum()
}
