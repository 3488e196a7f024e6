use std::path::{Path, PathBuf};

use nandle_profile::{Cell, SWEEP_SCHEMA_VERSION, SweepFile, write_atomically};

use crate::args::SweepArgs;
use crate::error::CliError;
use crate::sweep_csv;

/// Keeps the cells of a sweep in a file, after each of them, and finds those that an earlier one has kept.
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
    /// A file's name says neither CSV nor JSON, or the output is there already and isn't to be resumed.
    pub(super) fn new(args: &SweepArgs) -> Result<Self, CliError> {
        let output = args.output.clone().or_else(|| args.resume.clone());
        for path in output.iter().chain(&args.resume) {
            kind(path)?;
        }
        if let Some(path) = &output
            && args.resume.as_ref() != Some(path)
            && path.exists()
        {
            let path = path.display();
            return Err(CliError::usage(format!(
                "{path}: there is such a file already; name another one, or go on in it with --resume {path}"
            )));
        }
        Ok(Self { output, resume: args.resume.clone() })
    }

    /// Where the cells are kept.
    pub(super) fn path(&self) -> Option<&Path> {
        self.output.as_deref()
    }

    /// The cells that the file to resume has; none when there is no such file yet.
    pub(super) fn resumed(&self, now: &SweepFile) -> Result<Vec<Cell>, CliError> {
        let Some(path) = self.resume.as_deref().filter(|path| path.exists()) else { return Ok(Vec::new()) };
        let damaged = |error: String| {
            CliError::failed(format!("{}: not a sweep that can be resumed: {error}", path.display()))
        };
        match kind(path)? {
            Kind::Csv => sweep_csv::read_csv(path).map_err(damaged),
            Kind::Json => {
                let text = std::fs::read_to_string(path).map_err(|error| damaged(error.to_string()))?;
                let before: SweepFile =
                    serde_json::from_str(&text).map_err(|error| damaged(error.to_string()))?;
                check_same(&before, now).map_err(damaged)?;
                Ok(before.cells)
            }
        }
    }

    /// Writes what is there so far.
    pub(super) fn keep(&self, file: &SweepFile) -> Result<(), CliError> {
        let Some(path) = &self.output else { return Ok(()) };
        let text = match kind(path)? {
            Kind::Csv => sweep_csv::to_csv(&file.cells).map_err(CliError::failed)?,
            Kind::Json => super::to_json(file)?,
        };
        write_atomically(path, text.as_bytes())
            .map_err(|error| CliError::failed(format!("writing the cells to {}: {error}", path.display())))
    }
}

fn kind(path: &Path) -> Result<Kind, CliError> {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("csv") => Ok(Kind::Csv),
        Some("json") => Ok(Kind::Json),
        _ => Err(CliError::usage(format!("{}: expected a name that ends in .csv or .json", path.display()))),
    }
}

fn check_same(before: &SweepFile, now: &SweepFile) -> Result<(), String> {
    let same = |what: &str, before: &dyn std::fmt::Display, now: &dyn std::fmt::Display| {
        let (before, now) = (before.to_string(), now.to_string());
        if before == now { Ok(()) } else { Err(format!("its {what} is {before}, and this one's is {now}")) }
    };
    same("schema version", &before.schema_version, &SWEEP_SCHEMA_VERSION)?;
    same("target", &before.target, &now.target)?;
    same("file size", &before.file_bytes, &now.file_bytes)?;
    same("way of I/O", &before.backend.io, &now.backend.io)
}
