//! Plays recordings on other devices.

use std::time::SystemTime;

use nandle_predict::{CostsSource, Player, PlayerOptions, PredictError};
use nandle_reads::recording::Recording;
use nandle_reads::{PlanOptions, Strategy};
use nandle_session::{Access, Cancel, Observer, ProbeError, Progress};
use nandle_target::TargetSpec;
use nandle_terminal::progress::Bar;

use super::scan::plan_options;
use super::turning::Turning;
use super::{CubesArgs, Played, Report};
use crate::error::CliError;

pub(super) struct Target {
    /// Name on the command line.
    pub(super) name: String,
    /// Target to open, possibly a model with smaller caches.
    pub(super) spec: TargetSpec,
}

impl From<TargetSpec> for Target {
    fn from(spec: TargetSpec) -> Self {
        Self { name: spec.to_string(), spec }
    }
}

/// Plays a recording of the report's last path on each target. For `turning`, also plays its leaves
/// in other orders.
pub(super) fn add(
    args: &CubesArgs,
    targets: &[Target],
    recording: &Recording,
    cancel: &Cancel,
    bar: &mut Bar,
    report: &mut Report,
    mut turning: Option<&mut Turning>,
) -> Result<(), CliError> {
    let Some(path) = report.paths.last_mut() else { return Ok(()) };
    // An engine with a buffer pool requests one page at a time.
    let is_tree = path.path.starts_with("btree");
    let strategy = if is_tree { Strategy::OneByOne { depth: 1 } } else { args.reads };
    // On this machine read data waits as copies too; on targets, only in the plan's memory.
    let (planned, copies_bytes) = plan_options(args);
    let memory_bytes = planned.memory_bytes + copies_bytes;
    let options = PlanOptions { strategy, memory_bytes, ..planned };
    for Target { name: target, spec } in targets {
        let opening = PlayerOptions {
            access: Access { io: args.io.into(), ..Access::default() },
            costs: CostsSource::Probe(None),
            made_at: SystemTime::now(),
            cancel: cancel.clone(),
        };
        let wrong = |error: PredictError| match error {
            PredictError::Cancelled => CliError::interrupted(error.to_string()),
            PredictError::Session(error) => CliError::from(ProbeError::Session(error)).of(target),
            PredictError::Probe(error) => CliError::from(error).of(target),
            error => CliError::failed(format!("{target}: {error}")),
        };
        path.targets.push(target.clone());
        let mut player = Player::open(spec, recording, &opening, bar).map_err(wrong)?;
        report.remarks.extend(player.remarks().iter().cloned());
        bar.begin_stage();
        let count = recording.queries.len();
        for (number, (query, cube)) in recording.queries.iter().zip(&mut path.cubes).enumerate() {
            bar.progress(&format!("{} on {target}", cube.name), number as f64 / count as f64);
            let took = player.play(query, options, 1.0).map_err(wrong)?;
            let figures = Played {
                time_s: took.time_ns as f64 * 1e-9,
                predicted_s: took.predicted_ns.value as f64 * 1e-9,
                computing_s: took.computing_ns as f64 * 1e-9,
                requests: took.requests,
                read_bytes: took.read_bytes,
            };
            cube.targets.insert(target.clone(), figures);
        }
        if let Some(turning) = &mut turning {
            turning.add(target, &mut player, recording, options).map_err(wrong)?;
        }
    }
    Ok(())
}
