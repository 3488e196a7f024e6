use std::path::{Path, PathBuf};

use clap::Args;
use nandle_profile::{read_profile, write_atomically};

use crate::common::Common;
use crate::error::CliError;
use crate::output;
use crate::result_file::{self, Content};

/// Make the HTML report of one profile, or of several to compare.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  nandle report profile.json\n  nandle report old-disk.json new-disk.json --output compare.html"
)]
pub(crate) struct ReportArgs {
    /// Profiles that `nandle probe` wrote
    #[arg(required = true, value_name = "PROFILE")]
    pub(crate) profiles: Vec<PathBuf>,
    /// Where the report goes
    #[arg(long, value_name = "PATH", default_value = "report.html")]
    pub(crate) output: PathBuf,
}

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
