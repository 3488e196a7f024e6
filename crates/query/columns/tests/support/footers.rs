//! Parquet files of other or hostile writers: our rows with another footer.

use std::path::Path;

use arrow_array::RecordBatch;
use bytes::Bytes;
use parquet::arrow::ArrowWriter;
use parquet::file::metadata::{
    ColumnChunkMetaDataBuilder, ParquetMetaData, ParquetMetaDataBuilder, ParquetMetaDataReader,
    ParquetMetaDataWriter, RowGroupMetaData,
};
use parquet::file::properties::{EnabledStatistics, WriterProperties};

/// Writes rows without a page index.
pub(crate) fn write(path: &Path, batch: &RecordBatch) {
    let properties = WriterProperties::builder()
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_offset_index_disabled(true)
        .build();
    let file = std::fs::File::create(path).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
}

/// Replaces the footer of a file.
pub(crate) fn change(path: &Path, change: impl FnOnce(ParquetMetaData) -> ParquetMetaData) {
    let bytes = std::fs::read(path).unwrap();
    let metadata = ParquetMetaDataReader::new().parse_and_finish(&Bytes::from(bytes.clone())).unwrap();
    let (rest, _magic) = bytes.split_last_chunk::<4>().unwrap();
    let (rest, length) = rest.split_last_chunk::<4>().unwrap();
    let mut changed = rest[..rest.len() - u32::from_le_bytes(*length) as usize].to_vec();
    ParquetMetaDataWriter::new(&mut changed, &change(metadata)).finish().unwrap();
    std::fs::write(path, changed).unwrap();
}

/// Changes all row groups of a footer.
pub(crate) fn with_groups(
    metadata: &ParquetMetaData,
    change: impl Fn(RowGroupMetaData) -> RowGroupMetaData,
) -> ParquetMetaData {
    let groups = metadata.row_groups().iter().cloned().map(change).collect();
    ParquetMetaDataBuilder::new(metadata.file_metadata().clone()).set_row_groups(groups).build()
}

/// Changes all chunks of a row group.
pub(crate) fn with_chunks(
    group: RowGroupMetaData,
    change: impl Fn(ColumnChunkMetaDataBuilder) -> ColumnChunkMetaDataBuilder,
) -> RowGroupMetaData {
    let chunks = group.columns().iter().map(|chunk| change(chunk.clone().into_builder()).build().unwrap());
    let chunks = chunks.collect();
    group.into_builder().set_column_metadata(chunks).build().unwrap()
}

/// Writes the numbers from 0 to 99 with inverted bounds of the only page in the page index.
pub(crate) fn write_inverted_page(path: &Path, batch: &RecordBatch) {
    let file = std::fs::File::create(path).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), None).unwrap();
    writer.write(batch).unwrap();
    let metadata = writer.close().unwrap();
    let chunk = metadata.row_group(0).column(0);
    let start = usize::try_from(chunk.column_index_offset().unwrap()).unwrap();
    let length = usize::try_from(chunk.column_index_length().unwrap()).unwrap();
    let mut bytes = std::fs::read(path).unwrap();
    let index = &mut bytes[start..start + length];
    // Each value is preceded by its length.
    let bounds = [[4, 0, 0, 0, 0], [4, 99, 0, 0, 0]];
    let places = bounds.map(|bound| index.windows(5).position(|bytes| bytes == bound).unwrap());
    for (place, bound) in places.into_iter().rev().zip(bounds) {
        index[place..place + 5].copy_from_slice(&bound);
    }
    std::fs::write(path, bytes).unwrap();
}
