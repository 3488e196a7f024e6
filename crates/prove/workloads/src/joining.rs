//! Hash join workload.

use nandle_io::Nanos;
use nandle_spill::{Budget, JoinKind, JoinOptions, JoinReport, JoinSink, Joiner, Row};

use crate::WorkloadError;
use crate::data::RowChecksum;
use crate::outcome::JoinFigures;
use crate::output::ResultWriter;
use crate::run::{CANCEL_CHECK_ROWS, Job, OperatorResult};

/// Sink for the joined pairs.
struct Sink<'a, 'b> {
    job: &'a Job<'b>,
    writer: ResultWriter,
    row: Vec<u8>,
    rows: u64,
    sum: RowChecksum,
}

impl JoinSink for Sink<'_, '_> {
    type Error = WorkloadError;

    async fn row(&mut self, build: Option<Row<'_>>, probe: Row<'_>) -> Result<(), WorkloadError> {
        let build = build.map_or(&[][..], |build| build.payload);
        self.row.clear();
        for part in [probe.key, build, probe.payload] {
            self.row.extend_from_slice(part);
        }
        self.sum.add(&self.row);
        self.writer.push(&[&self.row]).await?;
        self.rows += 1;
        if self.rows.is_multiple_of(CANCEL_CHECK_ROWS) {
            self.job.check_cancelled()?;
        }
        Ok(())
    }
}

pub(crate) async fn run(job: &Job<'_>) -> Result<OperatorResult, WorkloadError> {
    let workload = &job.workload;
    let options = JoinOptions {
        expected_build_bytes: Some(workload.table_bytes()),
        cluster_bytes: workload.cluster_bytes,
        ..JoinOptions::new(Budget::new(workload.memory_bytes)?, job.costs.clone(), JoinKind::Inner)
    };
    let budget = options.budget.clone();
    let result_row_bytes = workload.result_row_bytes();
    let writer = ResultWriter::new(&job.handle, job.output, result_row_bytes)?;
    let mut sink =
        Sink { job, writer, row: Vec::with_capacity(result_row_bytes), rows: 0, sum: RowChecksum::default() };
    let began = job.handle.now();
    let mut joiner = Joiner::new(&job.handle, job.place, options)?;
    build(job, &mut joiner).await?;
    let mut probing = joiner.finish_build().await?;
    let mut table = job.table(1)?;
    while let Some(batch) = table.next().await? {
        job.check_cancelled()?;
        for row in batch.rows() {
            let (key, payload) = row.split_at(workload.key_bytes);
            probing.probe(Row { key, payload }, &mut sink).await?;
        }
        table.give_back(batch);
    }
    let first = job.handle.now().since(began);
    let report = probing.finish(&mut sink).await?;
    let Sink { writer, rows, sum, .. } = sink;
    writer.finish().await?;
    let all = job.handle.now().since(began);
    job.check_result(rows, sum)?;
    Ok(OperatorResult {
        first,
        second: Nanos(all.0.saturating_sub(first.0)),
        result_rows: rows,
        cluster_bytes: report.plan.cluster_bytes,
        memory_used_bytes: budget.most_used_bytes(),
        sort: None,
        join: Some(figures(&report)),
    })
}

fn figures(report: &JoinReport) -> JoinFigures {
    JoinFigures {
        fan_out: report.plan.fan_out as u64,
        spilled_partitions: report.spilled_partitions,
        divided_pairs: report.divided_pairs,
        levels: u64::from(report.levels),
        block_loops: report.block_loops,
    }
}

async fn build(job: &Job<'_>, joiner: &mut Joiner) -> Result<(), WorkloadError> {
    let mut table = job.table(0)?;
    while let Some(batch) = table.next().await? {
        job.check_cancelled()?;
        for row in batch.rows() {
            let (key, payload) = row.split_at(job.workload.key_bytes);
            joiner.build(Row { key, payload }).await?;
        }
        table.give_back(batch);
    }
    Ok(())
}
