//! Copies batches that waste memory. They may share buffers and dictionaries with other rows, or
//! have excess capacity: a join's output has the capacity of a full batch, however few its rows.

use arrow_array::{Array as _, RecordBatch, UInt64Array};
use arrow_select::take::take_record_batch;
use datafusion::common::DataFusionError;

use crate::texts;

/// A batch is copied if its buffers exceed this multiple of the bytes that its rows need.
const WASTE: usize = 2;

/// Returns the rows and approximately the bytes that they take.
pub(super) fn compact(batch: RecordBatch) -> Result<(RecordBatch, usize), DataFusionError> {
    let bytes = rows_bytes(&batch)?;
    if batch.get_array_memory_size() <= bytes.saturating_mul(WASTE) {
        return Ok((batch, bytes));
    }
    let rows = UInt64Array::from_iter_values(0..batch.num_rows() as u64);
    Ok((without_unreferenced_texts(&take_record_batch(&batch, &rows)?)?, bytes))
}

/// Removes texts of other rows from the buffers.
pub(super) fn without_unreferenced_texts(batch: &RecordBatch) -> Result<RecordBatch, DataFusionError> {
    let own = |column| texts::without_unreferenced_values(&texts::without_unreferenced_texts(column));
    let columns = batch.columns().iter().map(own).collect::<Result<_, _>>()?;
    Ok(RecordBatch::try_new(batch.schema(), columns)?)
}

fn rows_bytes(batch: &RecordBatch) -> Result<usize, DataFusionError> {
    let mut bytes = 0;
    for column in batch.columns() {
        let whole = column.to_data().get_slice_memory_size()? + texts::texts_bytes(column);
        bytes += whole.saturating_sub(texts::unreferenced_values_bytes(column));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::cast::AsArray as _;
    use arrow_array::types::Int32Type;
    use arrow_array::{ArrayRef, DictionaryArray, Int64Array, StringViewArray};

    use super::*;

    /// Otherwise each bucket of a join would contain all words.
    #[test]
    fn a_dictionary_has_the_words_of_its_rows() {
        let words = (0..10_000).map(|row| format!("a word that takes some bytes, {row}"));
        let words: DictionaryArray<Int32Type> =
            words.collect::<Vec<_>>().iter().map(|word| &**word).collect();
        let whole = RecordBatch::try_from_iter([("word", Arc::new(words) as ArrayRef)]).unwrap();
        let (few, bytes) = compact(whole.slice(5000, 10)).unwrap();
        assert_eq!(few, whole.slice(5000, 10));
        assert!(
            bytes < 1000 && few.get_array_memory_size() < 3000,
            "{bytes} {}",
            few.get_array_memory_size()
        );
        assert_eq!(few.column(0).as_any_dictionary().values().len(), 10);
    }

    #[test]
    fn a_few_rows_of_many_bring_nothing_with_them() {
        let numbers = Arc::new(Int64Array::from_iter_values(0..10_000)) as ArrayRef;
        let texts = (0..10_000).map(|row| format!("a text that doesn't lie beside its length, {row}"));
        let texts = Arc::new(StringViewArray::from_iter_values(texts)) as ArrayRef;
        let whole = RecordBatch::try_from_iter([("number", numbers), ("text", texts)]).unwrap();
        let (few, bytes) = compact(whole.slice(5000, 10)).unwrap();
        assert_eq!(few, whole.slice(5000, 10));
        assert!((500..1000).contains(&bytes), "{bytes}");
        assert!(few.get_array_memory_size() < 2000, "{}", few.get_array_memory_size());
        let (same, bytes) = compact(whole.clone()).unwrap();
        assert_eq!(
            same.column(0).to_data().buffers()[0].as_ptr(),
            whole.column(0).to_data().buffers()[0].as_ptr()
        );
        assert!(bytes > 500_000, "{bytes}");
    }
}
