//! Texts of arrays that refer to shared buffers or dictionaries: their size, and copies without
//! sharing.

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::ByteViewType;
use arrow_array::{Array as _, ArrayRef, GenericByteViewArray};
use arrow_buffer::Buffer;
use arrow_schema::{ArrowError, DataType};
use arrow_select::dictionary::garbage_collect_any_dictionary;

/// Size of texts outside of the values that refer to them; zero for other arrays.
pub(crate) fn texts_bytes(values: &ArrayRef) -> usize {
    match values.data_type() {
        DataType::Utf8View => bytes_of(values.as_string_view()),
        DataType::BinaryView => bytes_of(values.as_binary_view()),
        DataType::Dictionary(..) => texts_bytes(values.as_any_dictionary().values()),
        _ => 0,
    }
}

/// Copies values with only their own texts.
pub(crate) fn without_unreferenced_texts(values: &ArrayRef) -> ArrayRef {
    match values.data_type() {
        DataType::Utf8View => Arc::new(values.as_string_view().gc()),
        DataType::BinaryView => Arc::new(values.as_binary_view().gc()),
        _ => Arc::clone(values),
    }
}

/// Estimates the bytes of a dictionary's unused values, from the excess of values over rows.
pub(crate) fn unreferenced_values_bytes(values: &ArrayRef) -> usize {
    let Some(dictionary) = values.as_any_dictionary_opt() else { return 0 };
    let all = dictionary.values();
    let own = all.len().min(values.len());
    let bytes = all.to_data().get_slice_memory_size().unwrap_or_default() + texts_bytes(all);
    bytes - bytes.saturating_mul(own) / all.len().max(1)
}

/// Copies values with only their own dictionary, if it has more values than rows.
pub(crate) fn without_unreferenced_values(values: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    match values.as_any_dictionary_opt() {
        Some(dictionary) if dictionary.values().len() > values.len() => {
            garbage_collect_any_dictionary(dictionary)
        }
        _ => Ok(Arc::clone(values)),
    }
}

/// Buffers that values refer to; empty for other arrays.
pub(crate) fn text_buffers(values: &ArrayRef) -> &[Buffer] {
    match values.data_type() {
        DataType::Utf8View => values.as_string_view().data_buffers(),
        DataType::BinaryView => values.as_binary_view().data_buffers(),
        _ => &[],
    }
}

fn bytes_of<T: ByteViewType + ?Sized>(texts: &GenericByteViewArray<T>) -> usize {
    const INLINE_BYTES_MAX: usize = 12;
    let lengths = texts.views().iter().map(|view| (*view & u128::from(u32::MAX)) as usize);
    lengths.filter(|length| *length > INLINE_BYTES_MAX).sum()
}
