use std::path::{Path, PathBuf};

use nandle_profile::{Cell, SWEEP_BYTES_MAX, SWEEP_SCHEMA_VERSION, SweepFile, read_within, write_atomically};
use nandle_terminal::output;
use nandle_terminal::result_file;
use nandle_units::format_bytes_exact;

use super::csv::{self, Origin};
use crate::error::CliError;

/// Saves a sweep's cells to a file after each one, and loads those of an earlier sweep.
pub(super) struct Keeper {
    output: Option<PathBuf>,
    resume: Option<PathBuf>,
}

enum Kind {
    Csv,
    Json,
}

impl Keeper {
    /// # Errors
    ///
    /// A file name ends in neither `.csv` nor `.json`, or the output exists and isn't to be
    /// resumed.
    pub(super) fn new(output: Option<&Path>, resume: Option<&Path>) -> Result<Self, CliError> {
        let output = output.or(resume);
        for path in output.into_iter().chain(resume) {
            kind(path)?;
        }
        if let Some(path) = output
            && resume != Some(path)
            && path.exists()
        {
            let path = path.display();
            return Err(CliError::usage(format!(
                "{path}: there is such a file already; name another one, or go on in it with --resume {path}"
            )));
        }
        if let Some(path) = output {
            result_file::check_writable(path)?;
        }
        Ok(Self { output: output.map(Into::into), resume: resume.map(Into::into) })
    }

    /// Path of the saved cells.
    pub(super) fn path(&self) -> Option<&Path> {
        self.output.as_deref()
    }

    /// Cells of the file to resume; empty if there is no such file yet.
    pub(super) fn resumed(&self, now: &SweepFile) -> Result<Vec<Cell>, CliError> {
        let Some(path) = self.resume.as_deref() else { return Ok(Vec::new()) };
        if !path.exists() {
            output::note(&format!(
                "{}: not there yet, so the sweep begins with its first cell",
                path.display()
            ));
            return Ok(Vec::new());
        }
        let kept = match kind(path)? {
            Kind::Csv => csv::read_csv(path),
            Kind::Json => read_json(path),
        };
        let same = |(before, cell): (Origin, Cell)| check_same(&before, &Origin::of(now)).map(|()| cell);
        kept.and_then(|kept| kept.into_iter().map(same).collect()).map_err(|error| {
            let path = path.display();
            CliError::failed(format!(
                "{path}: not a sweep that can be resumed: {error}; begin a new one with --output"
            ))
        })
    }

    /// Saves the cells so far.
    pub(super) fn keep(&self, file: &SweepFile) -> Result<(), CliError> {
        let Some(path) = &self.output else { return Ok(()) };
        let text = match kind(path)? {
            Kind::Csv => csv::to_csv(file).map_err(CliError::failed)?,
            Kind::Json => to_json(file)?,
        };
        write_atomically(path, text.as_bytes())
            .map_err(|error| CliError::failed(format!("writing the cells to {}: {error}", path.display())))
    }
}

/// The cells as JSON.
pub(super) fn to_json(file: &SweepFile) -> Result<String, CliError> {
    let text = serde_json::to_string_pretty(file);
    text.map(|text| text + "\n").map_err(|error| CliError::failed(format!("writing JSON: {error}")))
}

fn kind(path: &Path) -> Result<Kind, CliError> {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("csv") => Ok(Kind::Csv),
        Some("json") => Ok(Kind::Json),
        _ => Err(CliError::usage(format!("{}: expected a name that ends in .csv or .json", path.display()))),
    }
}

fn read_json(path: &Path) -> Result<Vec<(Origin, Cell)>, String> {
    let text = read_within(path, SWEEP_BYTES_MAX).map_err(|error| error.to_string())?;
    let before: SweepFile = serde_json::from_slice(&text).map_err(|error| error.to_string())?;
    if before.schema_version != SWEEP_SCHEMA_VERSION {
        return Err(format!(
            "its schema version is {}, and this program's is {SWEEP_SCHEMA_VERSION}",
            before.schema_version
        ));
    }
    let origin = Origin::of(&before);
    Ok(before.cells.into_iter().map(|cell| (origin.clone(), cell)).collect())
}

fn check_same(before: &Origin, now: &Origin) -> Result<(), String> {
    let how = |origin: &Origin| {
        format!("{} I/O by {}", if origin.direct { "direct" } else { "buffered" }, origin.io)
    };
    for (what, before, now) in [
        ("target", before.target.clone(), now.target.clone()),
        ("file size", format_bytes_exact(before.file_bytes), format_bytes_exact(now.file_bytes)),
        ("access", how(before), how(now)),
        ("load", before.load.clone(), now.load.clone()),
    ] {
        if before != now {
            return Err(format!("its {what} is {before}, and this one's is {now}"));
        }
    }
    Ok(())
}
