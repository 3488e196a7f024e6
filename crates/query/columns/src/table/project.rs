use super::run_writer::RunWriter;
use super::schema::select;
use super::snapshot::open_entry;
use super::sort::Sorter;
use super::writing::{Commit, Writing};
use crate::directory::{PROJECTIONS, Projection, Run};
use crate::{BatchDecoder, ColumnsError, DirectBytes, FileEntry, ScanPlan, ScanSpec};
use std::sync::Arc;

/// Copies some columns of all rows, sorted by them.
pub(super) fn project(
    mut writing: Writing,
    columns: &[&str],
    memory_bytes: u64,
) -> Result<Commit, ColumnsError> {
    let columns: Vec<String> = columns.iter().map(|column| (*column).to_owned()).collect();
    let copied = copy(&mut writing, &columns, memory_bytes);
    match copied {
        Ok(files) => {
            let snapshot = writing.manifest.snapshot;
            let mut runs = vec![Run { snapshot, files }];
            runs.retain(|run| !run.files.is_empty());
            writing.manifest.projections.retain(|old| old.columns != columns);
            writing.manifest.projections.push(Projection { columns, runs });
            writing.commit()
        }
        Err(error) => {
            writing.abandon();
            Err(error)
        }
    }
}

fn copy(
    writing: &mut Writing,
    columns: &[String],
    memory_bytes: u64,
) -> Result<Vec<FileEntry>, ColumnsError> {
    check(columns)?;
    let schema = select(writing.manifest.schema()?.as_ref(), columns)?;
    let by: Vec<usize> = (0..columns.len()).collect();
    let mut sorter = Sorter::new(&writing.files, &schema, &by, memory_bytes)?;
    for entry in writing.data_files() {
        let file = Arc::new(open_entry(&writing.files, &entry)?);
        let plan = ScanPlan::with_schema(vec![file], &schema, &ScanSpec::of(columns.to_vec()))?;
        let (mut bytes, mut decoder) = (DirectBytes::new(&plan), BatchDecoder::new(&plan));
        while let Some(batch) = decoder.next(&mut bytes)? {
            sorter.push(&batch)?;
        }
    }
    let mut run = RunWriter::within(PROJECTIONS, schema);
    sorter.finish(|batch| run.write(writing, &batch))?;
    run.finish(writing)
}

fn check(columns: &[String]) -> Result<(), ColumnsError> {
    let twice = columns
        .iter()
        .enumerate()
        .find(|(place, column)| columns.iter().take(*place).any(|one| one == *column));
    let what = match (columns, twice) {
        ([], _) => "a projection of no column was asked for".to_owned(),
        (_, Some((_, column))) => format!("a projection was to have column `{column}` twice"),
        _ => return Ok(()),
    };
    Err(ColumnsError::Misuse { what, mend: "name each column once, in the order to sort by" })
}
