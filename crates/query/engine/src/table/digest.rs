//! Digest by which two machines compare Parquet files: footers, and samples of the data before
//! them.

use std::hash::{Hash as _, Hasher as _};
use std::sync::Arc;

use nandle_columns::ParquetFile;
use parquet::file::metadata::{ColumnChunkMetaData, RowGroupMetaData};
use xxhash_rust::xxh3::Xxh3Default;

/// Maximum number of samples over all files, and per file.
const SAMPLES_MOST: usize = 192;
const SAMPLES_EACH: usize = 3;
const SAMPLE_BYTES: u64 = 1024;

/// Hashes the footers of files, in order, and samples. Copies have equal digests. Different files
/// of equal length usually differ in statistics or compressed lengths of columns, and otherwise in
/// most of their bytes.
pub(super) fn of_files(files: &[Arc<ParquetFile>]) -> u64 {
    // The hash must be equal in all builds of a version.
    let mut hasher = Xxh3Default::new();
    for file in files {
        file.metadata().num_row_groups().hash(&mut hasher);
        file.metadata().row_groups().iter().for_each(|group| add_group(group, &mut hasher));
    }
    let samples = (files.len() * SAMPLES_EACH).min(SAMPLES_MOST);
    for number in 0..samples {
        if let Some(file) = files.get(number * files.len() / samples) {
            sample(file, number % SAMPLES_EACH).hash(&mut hasher);
        }
    }
    hasher.finish()
}

/// Reads a sample in a third of a file; `None` if it can't be read, which makes the digest differ.
fn sample(file: &ParquetFile, third: usize) -> Option<Vec<u8>> {
    let length_bytes = file.source().length_bytes();
    let offset_bytes = length_bytes / 6 * (2 * third as u64 + 1);
    let mut bytes = vec![0; usize::try_from(SAMPLE_BYTES.min(length_bytes - offset_bytes)).ok()?];
    file.source().read_exact_at(offset_bytes, &mut bytes).ok()?;
    Some(bytes)
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
