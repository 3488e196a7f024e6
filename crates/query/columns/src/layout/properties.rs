use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_cast::cast;
use arrow_schema::DataType;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;

use super::{ColumnLayout, Layout};
use crate::ColumnsError;
use crate::read::value_type;

/// Average repetitions per value, from which a column is encoded as codes.
const REPEATS_MIN: usize = 16;
/// Maximum dictionary page of a column of codes; beyond it the writer falls back to values.
const DICTIONARY_BYTES: usize = 4 << 20;

/// Properties of the Parquet writer. The first rows reveal columns with few distinct values.
pub(crate) fn properties(
    layout: &Layout,
    first_rows: &RecordBatch,
) -> Result<WriterProperties, ColumnsError> {
    let size = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
    let zstd = ZstdLevel::default();
    let mut properties = WriterProperties::builder()
        .set_data_page_size_limit(size(layout.page_bytes))
        .set_data_page_row_count_limit(size(layout.page_rows))
        .set_max_row_group_row_count(Some(size(layout.row_group_rows)))
        .set_statistics_enabled(EnabledStatistics::Page)
        .set_dictionary_page_size_limit(size(layout.page_bytes).clamp(64 << 10, DICTIONARY_BYTES))
        .set_compression(Compression::ZSTD(zstd))
        .set_created_by("nandle".to_owned());
    for (field, array) in first_rows.schema().fields().iter().zip(first_rows.columns()) {
        let stated = layout.columns.get(field.name()).copied();
        let column = match stated {
            Some(stated) => stated,
            None if repeats(array.as_ref())? => ColumnLayout::Codes,
            None => ColumnLayout::Values,
        };
        if column == ColumnLayout::Codes {
            let path = ColumnPath::from(field.name().as_str());
            properties = properties
                .set_column_compression(path.clone(), Compression::LZ4_RAW)
                .set_column_dictionary_page_size_limit(path, DICTIONARY_BYTES);
        }
    }
    Ok(properties.build())
}

/// Returns true if values repeat often.
fn repeats(array: &dyn arrow_array::Array) -> Result<bool, ColumnsError> {
    let sample = array.slice(0, array.len().min(64 << 10));
    if sample.data_type() == &DataType::Boolean {
        return Ok(true);
    }
    let values = value_type(sample.data_type()).clone();
    let plain = cast(&sample, &values).map_err(ColumnsError::arrow("sampling a column"))?;
    let data_type = DataType::Dictionary(Box::new(DataType::UInt32), Box::new(values));
    // Types without dictionaries aren't used for grouping.
    let Ok(encoded) = cast(&plain, &data_type) else { return Ok(false) };
    let distinct = encoded.as_any_dictionary().values().len();
    Ok(distinct * REPEATS_MIN <= sample.len().max(1))
}
