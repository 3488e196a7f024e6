//! External sort workload.

use nandle_io::Nanos;
use nandle_spill::{Budget, Row, SortOptions, SortReport, Sorted, Sorter};

use crate::WorkloadError;
use crate::data::RowChecksum;
use crate::outcome::SortFigures;
use crate::output::ResultWriter;
use crate::run::{CANCEL_CHECK_ROWS, Job, OperatorResult};

pub(crate) async fn run(job: &Job<'_>) -> Result<OperatorResult, WorkloadError> {
    let workload = &job.workload;
    let options = SortOptions {
        expected_bytes: Some(workload.table_bytes()),
        cluster_bytes: workload.cluster_bytes,
        ..SortOptions::new(Budget::new(workload.memory_bytes)?, job.costs.clone())
    };
    let began = job.handle.now();
    let mut sorter = Sorter::new(&job.handle, job.place, options)?;
    take(job, &mut sorter).await?;
    let mut result = sorter.finish().await?;
    let finished = job.handle.now().since(began);
    // `finish` includes the merges before the last one.
    let first = Nanos(finished.0.saturating_sub(result.report().merge_ns));
    let result_rows = write(job, &mut result).await?;
    let all = job.handle.now().since(began);
    let report = result.report();
    Ok(OperatorResult {
        first,
        second: Nanos(all.0.saturating_sub(first.0)),
        result_rows,
        cluster_bytes: report.cluster_bytes,
        memory_used_bytes: report.most_used_bytes,
        sort: Some(figures(&report)),
        join: None,
    })
}

fn figures(report: &SortReport) -> SortFigures {
    SortFigures {
        runs: report.runs,
        merges_before_the_last: report.merges,
        last_fan_in: report.last_fan_in,
        fan_in: report.predicted.map_or(0, |plan| plan.fan_in as u64),
        predicted_merge_ns: report.predicted.map(|plan| plan.seconds * 1e9),
    }
}

async fn take(job: &Job<'_>, sorter: &mut Sorter) -> Result<(), WorkloadError> {
    let mut table = job.table(0)?;
    while let Some(batch) = table.next().await? {
        job.check_cancelled()?;
        for row in batch.rows() {
            let (key, payload) = row.split_at(job.workload.key_bytes);
            sorter.push(Row { key, payload }).await?;
        }
        table.give_back(batch);
    }
    Ok(())
}

/// Writes the sorted rows, and checks their order and checksum.
async fn write(job: &Job<'_>, sorted: &mut Sorted) -> Result<u64, WorkloadError> {
    let mut writer = ResultWriter::new(&job.handle, job.output, job.workload.row_bytes)?;
    let (mut rows, mut sum) = (0_u64, RowChecksum::default());
    let mut before: Vec<u8> = Vec::new();
    let mut whole = Vec::with_capacity(job.workload.row_bytes);
    while let Some(row) = sorted.next().await? {
        if row.key < before.as_slice() {
            let what = format!("row {rows} follows a row with a greater key");
            return Err(WorkloadError::Wrong { what });
        }
        before.clear();
        before.extend_from_slice(row.key);
        whole.clear();
        whole.extend_from_slice(row.key);
        whole.extend_from_slice(row.payload);
        sum.add(&whole);
        writer.push(&[&whole]).await?;
        rows += 1;
        if rows.is_multiple_of(CANCEL_CHECK_ROWS) {
            job.check_cancelled()?;
        }
    }
    writer.finish().await?;
    job.check_result(rows, sum)?;
    Ok(rows)
}
