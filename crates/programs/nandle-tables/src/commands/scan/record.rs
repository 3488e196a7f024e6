//! Records the needs of a scan.

use std::path::Path;

use nandle_columns::ScanPlan;
use nandle_io::Nanos;
use nandle_reads::ReadFile;
use nandle_reads::recording::{Names, QueryTotals, Recorder};
use nandle_terminal::result_file;

use super::work::Run;
use crate::error::CliError;

/// Writes a recording of one query.
pub(super) fn write(
    path: &Path,
    plan: &ScanPlan,
    files: &[ReadFile],
    (text, names): (&str, Names),
    run: &Run,
) -> Result<(), CliError> {
    let mut recorder = Recorder::new(Vec::new(), names)?;
    for (file, opened) in plan.files().iter().zip(files) {
        recorder.file(file.name(), opened.plan.length_bytes, &opened.plan.groups)?;
    }
    recorder.begin_query("scan", Some(text))?;
    for (step, cpu_ns) in (0..).zip(&run.cpu_after_ns) {
        recorder.step(plan.wants_of(step).unwrap_or_default(), Nanos(*cpu_ns))?;
    }
    recorder.end_query(QueryTotals { result_rows: run.rows, ..QueryTotals::default() })?;
    Ok(result_file::write(path, &recorder.finish()?)?)
}
