//! Scales memory and caches to the table. With fewer rows than the paper's, its memory and the
//! models' caches would hold a larger share of the data. Both are reduced in proportion to the
//! rows, and the scaled models are saved as files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use nandle_model::library::{CacheChange, Model, Parameters, ScaledModel};
use nandle_target::TargetSpec;
use nandle_target::spec::{ModelName, ModelSpec};
use nandle_terminal::result_file::{self, Content};
use nandle_terminal::words::thousands;
use nandle_units::format_bytes;
use serde::Serialize;

use super::CubesArgs;
use super::args::MEMORY_BYTES_MIN;
use super::played::Target;
use crate::error::CliError;

/// Rows in the paper: 50 GB, with 980 MiB of memory.
const PAPER_ROWS: u64 = 70_000_000;
/// Mark of files that this program wrote.
const HEAD: &str = "# Scaled by nandle cubes";

const SCALED_MODEL: Content = Content {
    kind: "scaled model",
    start_bytes: HEAD.len() as u64,
    is_one: |there| there.starts_with(HEAD.as_bytes()),
};

/// Differences from the paper's machine.
#[derive(Debug, Serialize)]
pub(super) struct Scaling {
    /// Rows divided by the paper's.
    share: f64,
    pub(super) memory_bytes: u64,
    models: Vec<ScaledFile>,
}

/// A model with smaller caches.
#[derive(Debug, Serialize)]
struct ScaledFile {
    model: String,
    file: PathBuf,
    changes: Vec<Change>,
}

/// Change of a cache's size.
#[derive(Debug, Serialize)]
struct Change {
    parameter: String,
    from: u64,
    to: u64,
}

impl From<CacheChange> for Change {
    fn from(CacheChange { parameter, from, to }: CacheChange) -> Self {
        Self { parameter, from, to }
    }
}

/// Targets to play on. If there are models, memory and caches are scaled to the rows.
pub(super) fn targets(
    args: &CubesArgs,
    specs: Vec<TargetSpec>,
    rows: u64,
) -> Result<(Vec<Target>, Option<Scaling>), CliError> {
    let has_models =
        specs.iter().flat_map(TargetSpec::leaves).any(|leaf| matches!(leaf, TargetSpec::Model(_)));
    if args.unscaled || !has_models || rows >= PAPER_ROWS {
        return Ok((specs.into_iter().map(Target::from).collect(), None));
    }
    let share = rows.max(1) as f64 / PAPER_ROWS as f64;
    let mut models = Models { directory: directory(args), rows, share, written: BTreeMap::new() };
    let targets = specs.into_iter().map(|spec| {
        let name = spec.to_string();
        Ok(Target { name, spec: models.scaled(spec)? })
    });
    let targets = targets.collect::<Result<_, CliError>>()?;
    let memory_bytes = args.memory.unwrap_or_else(|| part(args.memory(), share).max(MEMORY_BYTES_MIN));
    let scaling = Scaling { share, memory_bytes, models: models.written.into_values().collect() };
    Ok((targets, Some(scaling)))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a part of a size, rounded")]
fn part(bytes: u64, share: f64) -> u64 {
    (bytes as f64 * share).round() as u64
}

/// Directory of the report or the recording, or else the working directory.
fn directory(args: &CubesArgs) -> PathBuf {
    let beside = args.report.as_ref().or(args.record.as_ref()).and_then(|path| path.parent());
    args.scaled_models.clone().or_else(|| beside.map(Path::to_owned)).unwrap_or_default()
}

/// Scaled models written so far.
struct Models {
    directory: PathBuf,
    rows: u64,
    share: f64,
    /// Keyed by the original model.
    written: BTreeMap<String, ScaledFile>,
}

impl Models {
    /// The target with its models scaled.
    fn scaled(&mut self, spec: TargetSpec) -> Result<TargetSpec, CliError> {
        Ok(match spec {
            TargetSpec::Path(path) => TargetSpec::Path(path),
            TargetSpec::Model(model) => {
                let loaded = match &model.name {
                    ModelName::Library(name) => Model::named(name),
                    ModelName::File(path) => Model::from_path(path),
                };
                let name = ModelName::File(self.write(&loaded?)?);
                TargetSpec::Model(ModelSpec { name, ..model })
            }
            TargetSpec::Repeat { target, count } => {
                TargetSpec::Repeat { target: Box::new(self.scaled(*target)?), count }
            }
            TargetSpec::Array(mut array) => {
                let members = array.members.into_iter().map(|member| self.scaled(member));
                array.members = members.collect::<Result<_, _>>()?;
                TargetSpec::Array(array)
            }
        })
    }

    /// Writes the scaled model and those of its drives. Returns its file.
    fn write(&mut self, model: &Model) -> Result<PathBuf, CliError> {
        let path = self.directory.join(self.file_name(model.name()));
        if let Some(there) = self.written.get(model.origin()) {
            return Ok(there.file.clone());
        }
        if let Some(other) = self.written.values().find(|written| written.file == path) {
            let (one, file) = (model.origin(), path.display());
            return Err(CliError::usage(format!(
                "--on: {one} and {} are both named {}, so both would be scaled as {file}; name one of them otherwise in its file",
                other.model,
                model.name()
            )));
        }
        let mut names = BTreeMap::new();
        if let Parameters::Array { parameters, members } = model.parameters() {
            for (name, member) in parameters.drive_names().zip(members) {
                self.write(member)?;
                names.insert(name, self.file_name(member.name()));
            }
        }
        let name_of = |drive: &str| names.get(drive).cloned().unwrap_or_else(|| drive.to_owned());
        let ScaledModel { toml, changes } = model.with_scaled_caches(self.share, &name_of)?;
        let text = self.head(model, &changes) + &toml;
        result_file::check(&path, &SCALED_MODEL)?;
        result_file::write(&path, text.as_bytes())?;
        let changes = changes.into_iter().map(Change::from).collect();
        let written = ScaledFile { model: model.origin().to_owned(), file: path.clone(), changes };
        self.written.insert(written.model.clone(), written);
        Ok(path)
    }

    fn file_name(&self, model: &str) -> String {
        format!("{model}-{}-rows.toml", self.rows)
    }

    fn head(&self, model: &Model, changes: &[CacheChange]) -> String {
        let Self { rows, share, .. } = self;
        let mut head = format!(
            "{HEAD}: {}, its caches multiplied by {share:.6}, as {rows} rows are of the paper's {PAPER_ROWS}.\n",
            model.origin()
        );
        for CacheChange { parameter, from, to } in changes {
            head.extend(["# ", parameter, ": ", &to.to_string(), " instead of ", &from.to_string(), "\n"]);
        }
        head + "\n"
    }
}

impl Scaling {
    /// Remarks on the figures.
    pub(super) fn remarks(&self, args: &CubesArgs) -> Vec<String> {
        let memory = match args.memory {
            Some(_) => format!("memory is {}, as --memory says", format_bytes(self.memory_bytes)),
            None => format!(
                "memory is {} instead of {}",
                format_bytes(self.memory_bytes),
                format_bytes(args.memory())
            ),
        };
        let head = format!(
            "Caches of modelled devices are {:.4} of what they are, as the rows are of the paper's {}, and {memory}; --unscaled leaves them.",
            self.share,
            thousands(PAPER_ROWS as f64)
        );
        let of_model = |written: &ScaledFile| {
            let changes = written
                .changes
                .iter()
                .map(|Change { parameter, from, to }| format!("{parameter} {to} instead of {from}"));
            let changes: Vec<String> = changes.collect();
            let changes = if changes.is_empty() { "as it is".to_owned() } else { changes.join(", ") };
            format!("{} is played as {}: {changes}.", written.model, written.file.display())
        };
        [head].into_iter().chain(self.models.iter().map(of_model)).collect()
    }
}
