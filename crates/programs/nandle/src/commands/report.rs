//! `nandle report`.

use std::path::{Path, PathBuf};

use clap::Args;
use nandle_profile::{read_profile, write_atomically};
use nandle_replay::{ReplayFileError, read_play, read_replay};
use nandle_terminal::args::Common;
use nandle_terminal::output;
use nandle_terminal::result_file::{self, REPORT};

use crate::error::CliError;

/// Create an HTML report of one or more profiles, of a replay or of a play
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  nandle report profile.json\n  nandle report old-disk.json new-disk.json --output compare.html\n  nandle report replay.json --output replay.html"
)]
pub(crate) struct ReportArgs {
    /// Profiles written by `nandle probe`, or one result of `nandle replay --json` or
    /// `nandle trace play --json`
    #[arg(required = true, value_name = "PROFILE")]
    pub(crate) profiles: Vec<PathBuf>,
    /// Path of the report
    #[arg(long, value_name = "PATH", default_value = "report.html")]
    pub(crate) output: PathBuf,
}

pub(crate) fn run(args: &ReportArgs, common: Common) -> Result<(), CliError> {
    let html = html(&args.profiles)?;
    result_file::check(&args.output, &REPORT)?;
    write_report(&args.output, &html)?;
    if common.json {
        let answer = serde_json::json!({ "schema_version": 1, "report": args.output, "profiles": args.profiles.len() });
        return Ok(output::result(&format!("{answer}\n"))?);
    }
    output::note(&format!("report: {}", args.output.display()));
    Ok(())
}

/// HTML page of a replay, a play, or profiles.
fn html(paths: &[PathBuf]) -> Result<String, CliError> {
    if let [only] = paths {
        match read_replay(only) {
            Ok(Some(replay)) => return Ok(nandle_report::replay_html(&replay)),
            // An unreadable file is reported as a profile.
            Ok(None) | Err(ReplayFileError::File { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        match read_play(only) {
            Ok(Some(played)) => return Ok(nandle_report::play_html(&played)),
            Ok(None) | Err(ReplayFileError::File { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let profiles: Vec<_> = paths.iter().map(|path| read_profile(path)).collect::<Result<_, _>>()?;
    let files: Vec<_> = paths.iter().map(|path| path.display().to_string()).collect();
    Ok(nandle_report::html_of_files(&profiles, &files)?)
}

pub(crate) fn write_report(path: &Path, html: &str) -> Result<(), CliError> {
    write_atomically(path, html.as_bytes())
        .map_err(|error| CliError::failed(format!("writing the report {}: {error}", path.display())))
}

pub(crate) fn write_json(path: &Path, value: &impl serde::Serialize) -> Result<(), CliError> {
    let written = serde_json::to_vec_pretty(value)
        .map_err(std::io::Error::from)
        .and_then(|json| write_atomically(path, &[json.as_slice(), b"\n"].concat()));
    written.map_err(|error| CliError::failed(format!("writing the result {}: {error}", path.display())))
}
