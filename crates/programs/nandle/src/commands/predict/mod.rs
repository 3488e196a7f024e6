//! `nandle predict`.

mod args;
mod table;

use std::path::Path;
use std::time::SystemTime;

use nandle_predict::{
    CostsSource, How, PREDICTION_SCHEMA_VERSION, PlayerOptions, PredictError, PredictionFile,
    TargetPrediction, predict_on,
};
use nandle_profile::read_profile;
use nandle_reads::PlanOptions;
use nandle_reads::recording::Recording;
use nandle_session::Cancel;
use nandle_target::TargetSpec;
use nandle_terminal::args::Common;
use nandle_terminal::interrupt::cancel_on_signals;
use nandle_terminal::output;
use nandle_terminal::profile::kept_profile;
use nandle_terminal::progress::Bar;
use nandle_terminal::result_file::{self, REPORT};

pub(crate) use self::args::PredictArgs;
use crate::commands::report::{write_json, write_report};
use crate::error::CliError;
use crate::result_file::PREDICTION;

pub(crate) fn run(args: &PredictArgs, common: Common) -> Result<(), CliError> {
    if let Some(path) = &args.report {
        result_file::check(path, &REPORT)?;
    }
    if let Some(path) = &args.output {
        result_file::check(path, &PREDICTION)?;
    }
    let targets = args.targets()?;
    let sources = targets.iter().enumerate().map(|(index, target)| costs_source(args, index, target));
    let sources = sources.collect::<Result<Vec<_>, _>>()?;
    let recording = Recording::read(&args.recording).map_err(|error| CliError::failed(error.to_string()))?;
    if recording.queries.is_empty() {
        let path = args.recording.display();
        return Err(CliError::usage(format!("{path} holds no queries; record some")));
    }
    let cancel = cancel_on_signals()?;
    let mut bar = Bar::new(!common.no_progress);
    let mut predictions = Vec::new();
    for (target, costs) in targets.iter().zip(sources) {
        let options = options(args, costs, &cancel);
        predictions.push(predict_on(target, &recording, how(args), &options, &mut bar)?);
    }
    bar.finish();
    if let Some(refusal) = refusal(&predictions) {
        return Err(CliError::usage(format!("{refusal} (--memory)")));
    }
    print(args, &file(args, &recording, predictions), common)
}

/// Source of costs: the named profile, a profile cached for the directory's device, or a new probe.
fn costs_source(args: &PredictArgs, index: usize, target: &TargetSpec) -> Result<CostsSource, CliError> {
    let Some(path) = args.profile.get(index) else {
        let directory = match target {
            TargetSpec::Path(path) if args.probe_budget.is_none() && path.is_dir() => Some(path),
            _ => None,
        };
        let kept = directory.and_then(|directory| kept_profile(directory));
        return Ok(match kept {
            Some((profile, path)) => CostsSource::Profile(Box::new(profile), path),
            None => CostsSource::Probe(args.probe_budget),
        });
    };
    Ok(CostsSource::Profile(Box::new(read_profile(path)?), path.clone()))
}

fn options(args: &PredictArgs, costs: CostsSource, cancel: &Cancel) -> PlayerOptions {
    PlayerOptions { access: args.access(), costs, made_at: SystemTime::now(), cancel: cancel.clone() }
}

fn how(args: &PredictArgs) -> How {
    let options = PlanOptions {
        strategy: args.reads,
        depth: args.depth,
        request_bytes_max: args.block,
        ..PlanOptions::new(args.memory)
    };
    How { options, cpu_scale: args.cpu_scale }
}

/// Reason if no query could be played on any target; otherwise the rows hold the reasons.
fn refusal(predictions: &[TargetPrediction]) -> Option<&str> {
    let mut queries = predictions.iter().flat_map(|prediction| &prediction.queries);
    let first = queries.clone().find_map(|query| query.refusal.as_deref())?;
    queries.all(|query| query.played.is_none()).then_some(first)
}

fn file(args: &PredictArgs, recording: &Recording, targets: Vec<TargetPrediction>) -> PredictionFile {
    PredictionFile {
        schema_version: PREDICTION_SCHEMA_VERSION,
        recording: args.recording.display().to_string(),
        queries: recording.queries.len() as u64,
        files: recording.files.len() as u64,
        files_bytes: recording.files.iter().fold(0, |sum, file| sum.saturating_add(file.length_bytes)),
        reads: args.reads.to_string(),
        memory_bytes: args.memory,
        cpu_scale: args.cpu_scale,
        targets,
    }
}

fn print(args: &PredictArgs, file: &PredictionFile, common: Common) -> Result<(), CliError> {
    let told = |what: &str, path: &Path| output::note(&format!("{what}: {}", path.display()));
    if let Some(path) = &args.output {
        write_json(path, file)?;
        told("prediction", path);
    }
    if let Some(path) = &args.report {
        write_report(path, &nandle_report::prediction_html(file))?;
        told("report", path);
    }
    if common.json { Ok(output::json(file)?) } else { Ok(output::result(&table::text(file))?) }
}

impl From<PredictError> for CliError {
    fn from(error: PredictError) -> Self {
        match error {
            PredictError::Target(error) => error.into(),
            PredictError::Session(error) => error.into(),
            PredictError::Probe(error) => error.into(),
            PredictError::Cancelled => Self::interrupted(error.to_string()),
            PredictError::TooSmall { .. } => Self::usage(error.to_string()),
            error => Self::failed(error.to_string()),
        }
    }
}
