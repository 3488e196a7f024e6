use std::sync::Arc;

use arrow_array::RecordBatch;

use super::cluster::Clusterer;
use super::run_writer::RunWriter;
use super::schema::place;
use super::snapshot::open_entry;
use super::sort::Sorter;
use super::writing::{Commit, Writing};
use crate::directory::Run;
use crate::{BatchDecoder, Clustering, ColumnsError, DirectBytes, FileEntry, ScanPlan, ScanSpec};

/// Merges all runs into one. Reads the files in sequence, a step at a time.
pub(super) fn compact(mut writing: Writing, memory_bytes: u64) -> Result<Commit, ColumnsError> {
    let merged = match writing.manifest.clustering.clone() {
        Clustering::Sort(columns) => sorted(&mut writing, &columns, memory_bytes),
        clustering => merged(&mut writing, &clustering, memory_bytes),
    };
    match merged {
        Ok(files) => {
            let snapshot = writing.manifest.snapshot;
            writing.manifest.runs = vec![Run { snapshot, files }];
            writing.manifest.runs.retain(|run| !run.files.is_empty());
            writing.commit()
        }
        Err(error) => {
            writing.abandon();
            Err(error)
        }
    }
}

/// Writes all rows in one order.
fn sorted(
    writing: &mut Writing,
    columns: &[String],
    memory_bytes: u64,
) -> Result<Vec<FileEntry>, ColumnsError> {
    let schema = writing.manifest.schema()?;
    let by: Vec<usize> = columns.iter().map(|column| place(&schema, column)).collect::<Result<_, _>>()?;
    let mut sorter = Sorter::new(&writing.files, &schema, &by, memory_bytes)?;
    each_batch(writing, |_, batch| sorter.push(&batch))?;
    let mut run = RunWriter::new(schema);
    sorter.finish(|batch| run.write(writing, &batch))?;
    run.finish(writing)
}

/// Writes rows in their order, or in cells of as many as fit in memory.
fn merged(
    writing: &mut Writing,
    clustering: &Clustering,
    memory_bytes: u64,
) -> Result<Vec<FileEntry>, ColumnsError> {
    let schema = writing.manifest.schema()?;
    let mut clusterer = Clusterer::new(clustering, &schema, memory_bytes)?;
    let mut run = RunWriter::new(schema);
    each_batch(writing, |writing, batch| clusterer.write(writing, &mut run, batch))?;
    clusterer.finish(writing, &mut run)?;
    run.finish(writing)
}

fn each_batch(
    writing: &mut Writing,
    mut take: impl FnMut(&mut Writing, RecordBatch) -> Result<(), ColumnsError>,
) -> Result<(), ColumnsError> {
    let schema = writing.manifest.schema()?;
    let all = ScanSpec::of(schema.fields().iter().map(|field| field.name().clone()));
    for entry in writing.data_files() {
        let file = Arc::new(open_entry(&writing.files, &entry)?);
        let plan = ScanPlan::with_schema(vec![file], &schema, &all)?;
        let (mut bytes, mut decoder) = (DirectBytes::new(&plan), BatchDecoder::new(&plan));
        while let Some(batch) = decoder.next(&mut bytes)? {
            take(writing, batch)?;
        }
    }
    Ok(())
}
