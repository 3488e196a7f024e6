//! By what two machines know that files as they lie are the same: by their footers, and by samples of what lies before these.

use std::hash::{Hash as _, Hasher as _};
use std::sync::Arc;

use nandle_columns::ParquetFile;
use parquet::file::metadata::{ColumnChunkMetaData, RowGroupMetaData};
use xxhash_rust::xxh3::Xxh3Default;

/// So many samples are read of all files together, a few of each.
const SAMPLES_MOST: usize = 192;
const SAMPLES_EACH: usize = 3;
const SAMPLE_BYTES: u64 = 1024;

/// A number made of the footers of files, in their order, and of samples. Those of copies are equal; files of equal lengths that have other rows differ by
/// the least and greatest values and the compressed lengths of their columns as a rule, and by most of their bytes where they don't.
pub(super) fn of_files(files: &[Arc<ParquetFile>]) -> u64 {
    // The same files have the same number in every program of a version, by whatever compiler it was made.
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

/// Some bytes in a third of a file; none of what can't be read, which is no copy of what can.
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
