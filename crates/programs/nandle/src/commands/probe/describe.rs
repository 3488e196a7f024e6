//! Plan of a probe within its budget, for `--experiments`.

use std::fmt::Write as _;

use nandle_probe::experiments::READS;
use nandle_profile::SkippedExperiment;
use nandle_session::ProbePlan;
use nandle_terminal::args::Common;
use nandle_terminal::words::paragraph;
use nandle_units::{format_bytes, format_duration};
use serde_json::{Value, json};

use crate::error::CliError;

/// The plan as text or JSON.
pub(super) fn plan(plan: &ProbePlan, common: Common) -> Result<String, CliError> {
    if !common.json {
        return Ok(text(plan));
    }
    let text = serde_json::to_string_pretty(&json(plan));
    text.map(|text| text + "\n").map_err(|error| CliError::failed(format!("writing JSON: {error}")))
}

fn text(plan: &ProbePlan) -> String {
    let mut text = String::new();
    if let Some(time) = plan.reads_time() {
        let _ = writeln!(text, "{READS}: {}, writes nothing beside the test file", format_duration(time));
    }
    for chosen in &plan.experiments.chosen {
        let (name, question) = (chosen.experiment.name(), chosen.experiment.question());
        let time = format_duration(chosen.time);
        let writes = match chosen.write_bytes_max {
            0 => "writes nothing".into(),
            bytes => format!("writes up to {}", format_bytes(bytes)),
        };
        paragraph(&mut text, "", &format!("{name}: {time}, {writes}. {question}"));
    }
    for SkippedExperiment { name, reason } in &plan.experiments.skipped {
        paragraph(&mut text, "", &format!("{name}: not conducted: {reason}."));
    }
    let (time, written) = (format_duration(plan.time()), format_bytes(plan.write_bytes_max()));
    let all = format!("In all: {time} at most, and up to {written} written beside the test file.");
    paragraph(&mut text, "", &all);
    text
}

fn json(plan: &ProbePlan) -> Value {
    let chosen = plan.experiments.chosen.iter().map(|chosen| {
        json!({
            "name": chosen.experiment.name(), "question": chosen.experiment.question(),
            "time_ns": chosen.time.0, "write_bytes_max": chosen.write_bytes_max,
        })
    });
    json!({
        "schema_version": 1, "reads_time_ns": plan.reads_time().map(|time| time.0),
        "chosen": chosen.collect::<Vec<_>>(), "skipped": plan.experiments.skipped,
    })
}
