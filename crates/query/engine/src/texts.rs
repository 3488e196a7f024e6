//! Texts of arrays whose values refer to buffers or dictionaries that other arrays share: how many bytes they take, and copies that share none.

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::ByteViewType;
use arrow_array::{Array as _, ArrayRef, GenericByteViewArray};
use arrow_buffer::Buffer;
use arrow_schema::{ArrowError, DataType};
use arrow_select::dictionary::garbage_collect_any_dictionary;

/// What lies outside of the values that refer to it; zero for other arrays.
pub(crate) fn texts_bytes(values: &ArrayRef) -> usize {
    match values.data_type() {
        DataType::Utf8View => bytes_of(values.as_string_view()),
        DataType::BinaryView => bytes_of(values.as_binary_view()),
        DataType::Dictionary(..) => texts_bytes(values.as_any_dictionary().values()),
        _ => 0,
    }
}

/// The same values, whose buffers hold no texts but theirs.
pub(crate) fn without_unreferenced_texts(values: &ArrayRef) -> ArrayRef {
    match values.data_type() {
        DataType::Utf8View => Arc::new(values.as_string_view().gc()),
        DataType::BinaryView => Arc::new(values.as_binary_view().gc()),
        _ => Arc::clone(values),
    }
}

/// Bytes of a dictionary that are of other values: it has more than there are rows here.
pub(crate) fn unreferenced_values_bytes(values: &ArrayRef) -> usize {
    let Some(dictionary) = values.as_any_dictionary_opt() else { return 0 };
    let all = dictionary.values();
    let own = all.len().min(values.len());
    let bytes = all.to_data().get_slice_memory_size().unwrap_or_default() + texts_bytes(all);
    bytes - bytes.saturating_mul(own) / all.len().max(1)
}

/// The same values, in a dictionary of theirs where it had more than there are rows.
pub(crate) fn without_unreferenced_values(values: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    match values.as_any_dictionary_opt() {
        Some(dictionary) if dictionary.values().len() > values.len() => {
            garbage_collect_any_dictionary(dictionary)
        }
        _ => Ok(Arc::clone(values)),
    }
}

/// The buffers that values refer to; none of other arrays.
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
