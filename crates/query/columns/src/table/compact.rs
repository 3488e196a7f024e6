use std::sync::Arc;

use super::cluster::Clusterer;
use super::run_writer::RunWriter;
use super::snapshot::open_entry;
use super::writing::Writing;
use crate::directory::Run;
use crate::{BatchDecoder, ColumnsError, DirectBytes, ScanPlan, ScanSpec};

/// Merges all runs into one. Files are read one after the other, a step at a time.
pub(super) fn compact(mut writing: Writing) -> Result<u64, ColumnsError> {
    let merged = merge(&mut writing);
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

fn merge(writing: &mut Writing) -> Result<Vec<crate::FileEntry>, ColumnsError> {
    let schema = writing.manifest.schema()?;
    let all = ScanSpec::of(schema.fields().iter().map(|field| field.name().clone()));
    let mut clusterer =
        Clusterer::new(&writing.manifest.clustering, &schema, writing.manifest.layout.row_group_bytes)?;
    let mut run = RunWriter::new(schema.clone());
    for entry in writing.data_files() {
        let file = Arc::new(open_entry(writing.files.as_ref(), &entry)?);
        let plan = ScanPlan::with_schema(vec![file], &schema, &all)?;
        let (mut bytes, mut decoder) = (DirectBytes::new(&plan), BatchDecoder::new(&plan));
        while let Some(batch) = decoder.next(&mut bytes)? {
            clusterer.write(writing, &mut run, batch)?;
        }
    }
    clusterer.finish(writing, &mut run)?;
    run.finish(writing)
}
