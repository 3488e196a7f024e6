use std::path::Path;

use nandle_profile::{read_profile, write_atomically};

use crate::args::{Common, ReportArgs};
use crate::error::CliError;
use crate::output;

/// By this a page is known to be ours.
const GENERATOR: &str = "name=\"generator\" content=\"nandle";

/// Makes a report of profiles.
pub(crate) fn run(args: &ReportArgs, common: Common) -> Result<(), CliError> {
    let profiles: Vec<_> = args.profiles.iter().map(|path| read_profile(path)).collect::<Result<_, _>>()?;
    check_may_write(&args.output)?;
    write_report(&args.output, &nandle_report::html(&profiles)?)?;
    if common.json {
        let answer =
            serde_json::json!({ "schema_version": 1, "report": args.output, "profiles": profiles.len() });
        output::result(&format!("{answer}\n"));
    } else {
        output::note(&format!("report: {}", args.output.display()));
    }
    Ok(())
}

/// # Errors
/// There is a file of that name that is no report of ours.
pub(crate) fn check_may_write(path: &Path) -> Result<(), CliError> {
    match std::fs::read(path) {
        Ok(there) if !there.is_empty() && !contains(&there, GENERATOR.as_bytes()) => {
            Err(CliError::usage(format!(
                "{}: this file is no report of nandle's, and is left alone; name another one",
                path.display()
            )))
        }
        _ => Ok(()),
    }
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).take(4096).any(|window| window == part)
}

pub(crate) fn write_report(path: &Path, html: &str) -> Result<(), CliError> {
    write_atomically(path, html.as_bytes())
        .map_err(|error| CliError::failed(format!("writing the report {}: {error}", path.display())))
}
