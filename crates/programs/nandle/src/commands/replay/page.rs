//! The result as a page.

use std::path::Path;

use nandle_report::ReplayReport;

use super::told::Told;
use crate::commands::report::write_report;
use crate::error::CliError;
use crate::output;

/// Writes the page and says where it is.
pub(super) fn write(path: &Path, told: &Told) -> Result<(), CliError> {
    let contents = told.contents();
    let report = ReplayReport {
        trace: &told.trace,
        target: &told.target,
        writes: &told.amount(),
        pages: told.pages,
        page_bytes: told.page_bytes,
        contents: &contents,
        durable: told.durable(),
        queue_depth: told.queue_depth,
        remarks: &told.remarks,
        caveats: &told.caveats(),
        policies: told.policies,
    };
    write_report(path, &nandle_report::replay_html(&report))?;
    output::note(&format!("report: {}", path.display()));
    Ok(())
}
