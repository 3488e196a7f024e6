use std::sync::Arc;

use arrow_array::RecordBatch;
use nandle_columns::{CodeDecoder, ScanSpec, Snapshot, StreamedBytes};

use super::metered::MeteredBytes;
use super::scan::{names, read_domains, stream};
use super::tables::Tables;
use super::{CubeError, CubeReads, CubeRun, ThreadClock};
use crate::{CodeBatch, CubeQuery, KeySpace, SortedCounter};

/// Computes a cube from a projection sorted by its columns. Each group is complete when the next
/// begins, so the memory is that of one group and of the columns' values. Groups are passed to
/// `results` in order; an error may follow them.
///
/// # Errors
/// The rows aren't sorted by the cube's columns; the projection lacks a column, can't be read or is
/// damaged.
pub fn sorted_cube(
    projection: &Snapshot,
    query: CubeQuery,
    reads: &CubeReads<'_>,
    clock: ThreadClock,
    results: &mut dyn FnMut(RecordBatch),
) -> Result<CubeRun, CubeError> {
    let mut run = CubeRun::new(query);
    let (domains, values) = read_domains(projection, query, reads, clock, &mut run)?;
    let space = Arc::new(KeySpace::new(values)?);
    let mut counter = SortedCounter::new(&space);
    let plan = projection.scan(&ScanSpec::of(names(query)))?;
    let (planned, stream) = stream(&plan, reads)?;
    let mut bytes = MeteredBytes::new(StreamedBytes::new(&plan, stream), clock);
    let mut decoder = CodeDecoder::new(&plan);
    let mut tables = Tables::new(&space, &domains);
    while let Some(batch) = decoder.next(&mut bytes)? {
        let columns = tables.columns(batch.columns)?;
        let batch = CodeBatch::new(&space, &columns)?;
        let mut from = 0;
        while from < batch.rows() {
            let (next, groups) = counter.push(&batch, from)?;
            from = next;
            groups.into_iter().for_each(&mut *results);
        }
    }
    run.add(&planned, reads.host, &bytes.finish(), 1);
    let began_at = clock();
    let (last, report) = counter.finish()?;
    last.into_iter().for_each(results);
    run.count = report;
    let span = clock().since(began_at);
    run.add_results(span, span);
    Ok(run)
}
