//! Validation of a file's statistics: least and greatest values of column chunks and pages. Invalid
//! ones are removed from the footer when the file is opened, so that no reader skips rows by them.

use parquet::basic::{ConvertedType, LogicalType, SortOrder, Type};
use parquet::data_type::{
    AsBytes as _, BoolType, ByteArrayType, DataType, DoubleType, FixedLenByteArrayType, FloatType, Int32Type,
    Int64Type, Int96Type,
};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, RowGroupMetaData};
use parquet::file::page_index::column_index::{ColumnIndexMetaData, PrimitiveColumnIndex};
use parquet::file::statistics::{Statistics, ValueStatistics};
use parquet::schema::types::ColumnDescriptor;

/// Row group and leaf of a column chunk.
type ChunkNumber = (usize, usize);

/// Returns the metadata without invalid bounds.
pub(super) fn with_believed(metadata: ParquetMetaData) -> Result<ParquetMetaData, ParquetError> {
    let (chunks, pages) = (wrong_chunks(&metadata), wrong_pages(&metadata));
    if chunks.is_empty() && pages.is_empty() {
        return Ok(metadata);
    }
    let numbered = metadata.row_groups().iter().enumerate();
    let groups = numbered.map(|(number, group)| without_bounds(group, number, &chunks));
    let groups = groups.collect::<Result<Vec<_>, _>>()?;
    let mut index = metadata.column_index().cloned();
    for (row_group, leaf) in pages {
        if let Some(of_chunk) =
            index.as_mut().and_then(|index| index.get_mut(row_group)).and_then(|group| group.get_mut(leaf))
        {
            *of_chunk = ColumnIndexMetaData::NONE;
        }
    }
    Ok(metadata.into_builder().set_row_groups(groups).set_column_index(index).build())
}

fn wrong_chunks(metadata: &ParquetMetaData) -> Vec<ChunkNumber> {
    let groups = metadata.row_groups().iter().enumerate();
    let chunks = groups.flat_map(|(row_group, group)| {
        group.columns().iter().enumerate().map(move |(leaf, chunk)| ((row_group, leaf), chunk))
    });
    chunks.filter(|(_, chunk)| !is_believed(chunk)).map(|(number, _)| number).collect()
}

fn is_believed(chunk: &ColumnChunkMetaData) -> bool {
    let Some(statistics) = chunk.statistics() else { return true };
    let (Some(least), Some(greatest)) = (statistics.min_bytes_opt(), statistics.max_bytes_opt()) else {
        return !statistics.is_min_max_deprecated();
    };
    are_in_order(statistics, chunk) && !is_inverted(chunk.column_descr(), least, greatest)
}

/// Returns true if a chunk's bounds follow the order of the column's type. Writers before 2017
/// compared bytes and numbers as signed, and wrote the results to the fields `min` and `max`, which
/// are deprecated for that reason (PARQUET-686).
fn are_in_order(statistics: &Statistics, chunk: &ColumnChunkMetaData) -> bool {
    let has_signs =
        matches!(chunk.column_type(), Type::BOOLEAN | Type::INT32 | Type::INT64 | Type::FLOAT | Type::DOUBLE)
            && chunk.column_descr().sort_order() != SortOrder::UNSIGNED;
    has_signs || chunk.column_type() == Type::BOOLEAN || !statistics.is_min_max_deprecated()
}

fn wrong_pages(metadata: &ParquetMetaData) -> Vec<ChunkNumber> {
    let groups = metadata.column_index().into_iter().flatten().enumerate();
    let chunks = groups.flat_map(|(row_group, group)| {
        group.iter().enumerate().map(move |(leaf, index)| ((row_group, leaf), index))
    });
    let descriptor = metadata.file_metadata().schema_descr();
    let is_wrong = |leaf: usize, index: &ColumnIndexMetaData| {
        leaf < descriptor.num_columns() && has_inverted_page(&descriptor.column(leaf), index)
    };
    chunks.filter(|((_, leaf), index)| is_wrong(*leaf, index)).map(|(number, _)| number).collect()
}

fn has_inverted_page(column: &ColumnDescriptor, index: &ColumnIndexMetaData) -> bool {
    match index {
        ColumnIndexMetaData::NONE | ColumnIndexMetaData::INT96(_) => false,
        ColumnIndexMetaData::BOOLEAN(pages) => has_inverted::<BoolType>(column, pages),
        ColumnIndexMetaData::INT32(pages) => has_inverted::<Int32Type>(column, pages),
        ColumnIndexMetaData::INT64(pages) => has_inverted::<Int64Type>(column, pages),
        ColumnIndexMetaData::FLOAT(pages) => has_inverted::<FloatType>(column, pages),
        ColumnIndexMetaData::DOUBLE(pages) => has_inverted::<DoubleType>(column, pages),
        ColumnIndexMetaData::BYTE_ARRAY(pages) | ColumnIndexMetaData::FIXED_LEN_BYTE_ARRAY(pages) => {
            let mut bounds = pages.min_values_iter().zip(pages.max_values_iter());
            bounds.any(
                |pair| matches!(pair, (Some(least), Some(greatest)) if is_inverted(column, least, greatest)),
            )
        }
    }
}

fn has_inverted<D: DataType>(column: &ColumnDescriptor, pages: &PrimitiveColumnIndex<D::T>) -> bool {
    let mut bounds = pages.min_values_iter().zip(pages.max_values_iter());
    bounds.any(|(least, greatest)| match (least, greatest) {
        (Some(least), Some(greatest)) => is_inverted(column, least.as_bytes(), greatest.as_bytes()),
        _ => false,
    })
}

/// Returns true if the least value exceeds the greatest, or if they are incomparable, like NaN.
/// Values are plain-encoded.
fn is_inverted(column: &ColumnDescriptor, least: &[u8], greatest: &[u8]) -> bool {
    let is_unsigned = column.sort_order() == SortOrder::UNSIGNED;
    match column.physical_type() {
        Type::INT32 if is_unsigned => is_above(least, greatest, u32::from_le_bytes),
        Type::INT32 => is_above(least, greatest, i32::from_le_bytes),
        Type::INT64 if is_unsigned => is_above(least, greatest, u64::from_le_bytes),
        Type::INT64 => is_above(least, greatest, i64::from_le_bytes),
        Type::FLOAT => is_above(least, greatest, f32::from_le_bytes),
        Type::DOUBLE => is_above(least, greatest, f64::from_le_bytes),
        Type::BOOLEAN => least > greatest,
        Type::BYTE_ARRAY | Type::FIXED_LEN_BYTE_ARRAY if is_unsigned => least > greatest,
        Type::BYTE_ARRAY | Type::FIXED_LEN_BYTE_ARRAY if is_decimal(column) => {
            signed(least).zip(signed(greatest)).is_some_and(|(least, greatest)| least > greatest)
        }
        Type::INT96 | Type::BYTE_ARRAY | Type::FIXED_LEN_BYTE_ARRAY => false,
    }
}

fn is_above<const BYTES: usize, T: PartialOrd>(
    least: &[u8],
    greatest: &[u8],
    value: impl Fn([u8; BYTES]) -> T,
) -> bool {
    match (least.try_into(), greatest.try_into()) {
        (Ok(least), Ok(greatest)) => {
            value(least).partial_cmp(&value(greatest)).is_none_or(std::cmp::Ordering::is_gt)
        }
        _ => true,
    }
}

fn is_decimal(column: &ColumnDescriptor) -> bool {
    column.converted_type() == ConvertedType::DECIMAL
        || matches!(column.logical_type_ref(), Some(LogicalType::Decimal(_)))
}

/// Parses a big-endian signed number; `None` if it is too long.
fn signed(bytes: &[u8]) -> Option<i128> {
    let first = *bytes.first()?;
    let mut whole = [if first >= 0x80 { 0xff } else { 0 }; size_of::<i128>()];
    whole.get_mut(size_of::<i128>().checked_sub(bytes.len())?..)?.copy_from_slice(bytes);
    Some(i128::from_be_bytes(whole))
}

fn without_bounds(
    group: &RowGroupMetaData,
    number: usize,
    wrong: &[ChunkNumber],
) -> Result<RowGroupMetaData, ParquetError> {
    let leaves = wrong.iter().filter(|(row_group, _)| *row_group == number).map(|(_, leaf)| *leaf);
    let mut chunks = group.columns().to_vec();
    for leaf in leaves {
        if let Some(chunk) = chunks.get_mut(leaf)
            && let Some(statistics) = chunk.statistics().map(counts)
        {
            *chunk = chunk.clone().into_builder().set_statistics(statistics).build()?;
        }
    }
    group.clone().into_builder().set_column_metadata(chunks).build()
}

/// Statistics without bounds.
fn counts(statistics: &Statistics) -> Statistics {
    match statistics {
        Statistics::Boolean(values) => Statistics::Boolean(counts_of::<BoolType>(values)),
        Statistics::Int32(values) => Statistics::Int32(counts_of::<Int32Type>(values)),
        Statistics::Int64(values) => Statistics::Int64(counts_of::<Int64Type>(values)),
        Statistics::Int96(values) => Statistics::Int96(counts_of::<Int96Type>(values)),
        Statistics::Float(values) => Statistics::Float(counts_of::<FloatType>(values)),
        Statistics::Double(values) => Statistics::Double(counts_of::<DoubleType>(values)),
        Statistics::ByteArray(values) => Statistics::ByteArray(counts_of::<ByteArrayType>(values)),
        Statistics::FixedLenByteArray(values) => {
            Statistics::FixedLenByteArray(counts_of::<FixedLenByteArrayType>(values))
        }
    }
}

fn counts_of<D: DataType>(values: &ValueStatistics<D::T>) -> ValueStatistics<D::T> {
    ValueStatistics::new(None, None, values.distinct_count(), values.null_count_opt(), false)
}
