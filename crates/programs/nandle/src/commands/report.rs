use std::path::Path;

use nandle_profile::{read_profile, write_atomically};

use crate::args::{Common, ReportArgs};
use crate::error::CliError;
use crate::output;
use crate::result_file::{self, Content};

/// Makes a report of profiles.
pub(crate) fn run(args: &ReportArgs, common: Common) -> Result<(), CliError> {
    let profiles: Vec<_> = args.profiles.iter().map(|path| read_profile(path)).collect::<Result<_, _>>()?;
    result_file::check(&args.output, Content::Report)?;
    write_report(&args.output, &nandle_report::html(&profiles)?)?;
    if common.json {
        let answer =
            serde_json::json!({ "schema_version": 1, "report": args.output, "profiles": profiles.len() });
        return output::result(&format!("{answer}\n"));
    }
    output::note(&format!("report: {}", args.output.display()));
    Ok(())
}

pub(crate) fn write_report(path: &Path, html: &str) -> Result<(), CliError> {
    write_atomically(path, html.as_bytes())
        .map_err(|error| CliError::failed(format!("writing the report {}: {error}", path.display())))
}
