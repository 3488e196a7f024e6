//! What a scan needed, as a recording.

use std::fs::File;
use std::path::Path;

use nandle_columns::ScanPlan;
use nandle_io::Nanos;
use nandle_reads::ReadFile;
use nandle_reads::recording::{Names, QueryTotals, Recorder};

use super::work::Run;
use crate::error::CliError;

/// Writes a recording of one query.
pub(super) fn write(
    path: &Path,
    plan: &ScanPlan,
    files: &[ReadFile],
    text: &str,
    run: &Run,
) -> Result<(), CliError> {
    let wrong = |error: std::io::Error| CliError::failed(format!("--record {}: {error}", path.display()));
    let file = File::create(path).map_err(wrong)?;
    let mut recorder = Recorder::new(file, Names::Kept)?;
    for (file, opened) in plan.files().iter().zip(files) {
        recorder.file(file.name(), opened.plan.length_bytes, &opened.plan.groups)?;
    }
    recorder.begin_query("scan", Some(text))?;
    for (step, cpu_ns) in (0..).zip(&run.cpu_after_ns) {
        recorder.step(plan.wants_of(step).unwrap_or_default(), Nanos(*cpu_ns))?;
    }
    recorder.end_query(QueryTotals { result_rows: run.rows, ..QueryTotals::default() })?;
    recorder.finish()?.sync_all().map_err(wrong)
}
