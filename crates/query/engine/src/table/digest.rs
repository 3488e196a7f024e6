//! By what two machines know that files as they lie are the same: by their footers.

use std::hash::{Hash as _, Hasher as _};
use std::sync::Arc;

use nandle_columns::ParquetFile;
use parquet::file::metadata::{ColumnChunkMetaData, RowGroupMetaData};
use xxhash_rust::xxh3::Xxh3Default;

/// A number made of the footers of files, in their order. Those of files with the same rows in the same pages are equal; files of equal lengths that have
/// other rows differ by the least and greatest values and the compressed lengths of their columns.
pub(super) fn of_files(files: &[Arc<ParquetFile>]) -> u64 {
    // The same files have the same number in every program of a version, by whatever compiler it was made.
    let mut hasher = Xxh3Default::new();
    for file in files {
        file.metadata().num_row_groups().hash(&mut hasher);
        file.metadata().row_groups().iter().for_each(|group| add_group(group, &mut hasher));
    }
    hasher.finish()
}

fn add_group(group: &RowGroupMetaData, hasher: &mut Xxh3Default) {
    (group.num_rows(), group.num_columns()).hash(hasher);
    group.columns().iter().for_each(|chunk| add_chunk(chunk, hasher));
}

fn add_chunk(chunk: &ColumnChunkMetaData, hasher: &mut Xxh3Default) {
    (chunk.column_path().parts(), chunk.byte_range(), chunk.uncompressed_size()).hash(hasher);
    let bounds = chunk.statistics().map(|known| {
        (known.min_bytes_opt(), known.max_bytes_opt(), known.null_count_opt(), known.distinct_count_opt())
    });
    bounds.hash(hasher);
}
