//! Trials in PostgreSQL: a private cluster; pgbench for OLTP, scans and index look-ups for OLAP.

mod cluster;
mod programs;
mod workload;

use nandle_advise::settings::Version;

use self::cluster::Cluster;
use self::programs::Programs;
use super::contest::Contest;
use super::pairs::{Kind, Side, Steps, Trial, contest};
use crate::error::CliError;

/// Version of the server that a trial would run.
pub(in super::super) fn installed_version() -> Result<Option<Version>, CliError> {
    Ok(Programs::find()?.version())
}

/// Runs the workloads that represent the question's.
pub(super) fn run(trial: &Trial<'_>, steps: &mut Steps<'_>) -> Result<Vec<Contest>, CliError> {
    let programs = Programs::find()?;
    let mut cluster = Cluster::new(&programs, trial.directory, &trial.cancel)?;
    let advised = settings(trial);
    let kinds = Kind::of(trial.advice.question.workload);
    kinds.iter().map(|kind| run_one(trial, *kind, &mut cluster, &advised, steps)).collect()
}

fn run_one(
    trial: &Trial<'_>,
    kind: Kind,
    cluster: &mut Cluster<'_>,
    advised: &str,
    steps: &mut Steps<'_>,
) -> Result<Contest, CliError> {
    let sessions = trial.advice.question.sessions;
    let workload = workload::Workload { kind, data_bytes: trial.data_bytes, sessions };
    steps.say(&format!("loading: {}", workload.describe()));
    cluster.restart(workload::LOADING)?;
    workload.load(cluster)?;
    contest(trial, kind, workload.describe(), steps, |side| {
        let settings = if side == Side::Advised { advised } else { "" };
        // Both sides need connections beyond the default of 100.
        cluster.restart(&format!("max_connections = {}\n{settings}", sessions + 20))?;
        workload.run(cluster)
    })
}

/// The advised settings as configuration.
fn settings(trial: &Trial<'_>) -> String {
    let set = trial.advice.settings().filter(|setting| setting.only_a_comment.is_none());
    set.map(|setting| format!("{} = {}\n", setting.name, setting.value)).collect()
}
