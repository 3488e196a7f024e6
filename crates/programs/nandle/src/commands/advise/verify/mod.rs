//! `--verify`: a fixed workload with a product's defaults and with the advice, by turns, on this machine.

mod child;
mod cold;
mod contest;
mod place;
mod postgresql;
mod sqlite;

use std::path::Path;

use nandle_advise::Product;
use nandle_advise::settings::{Advice, Workload};
use nandle_session::Cancel;
use nandle_session::Observer as _;

pub(super) use contest::{Contest, Outcome, median};
pub(super) use postgresql::installed_version;

use super::args::AdviseArgs;
use crate::error::CliError;
use crate::progress::Bar;

/// With which settings a workload runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    /// The product's own.
    Defaults,
    /// Those of the advice.
    Advised,
}

impl Side {
    fn name(self) -> &'static str {
        match self {
            Self::Defaults => "the defaults",
            Self::Advised => "the advice",
        }
    }
}

/// A workload that is run with both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Short transactions that commit.
    Oltp,
    /// Scans and index look-ups of data that no cache holds yet.
    Olap,
}

impl Kind {
    /// What stands for a workload.
    fn of(workload: Workload) -> &'static [Self] {
        match workload {
            Workload::Oltp => &[Self::Oltp],
            Workload::Olap => &[Self::Olap],
            Workload::Mixed => &[Self::Oltp, Self::Olap],
        }
    }
}

/// What a verification needs.
struct Trial<'a> {
    directory: &'a Path,
    advice: &'a Advice,
    data_bytes: u64,
    pairs: u32,
    cancel: Cancel,
}

/// Tells what is being done, and how much of all that is.
struct Steps<'a> {
    progress: &'a mut Bar,
    done: usize,
    total: usize,
}

impl Steps<'_> {
    fn say(&mut self, doing: &str) {
        self.progress.progress(doing, self.done as f64 / self.total as f64);
        self.done += 1;
    }
}

/// Runs the workloads in `directory`, from which everything is gone afterwards.
pub(super) fn verify(
    args: &AdviseArgs,
    directory: &Path,
    advice: &Advice,
    cancel: Cancel,
    progress: &mut Bar,
) -> Result<Vec<Contest>, CliError> {
    place::check(directory, args.verify_data)?;
    let trial = Trial { directory, advice, data_bytes: args.verify_data, pairs: args.verify_pairs, cancel };
    let kinds = Kind::of(advice.question.workload).len();
    let mut steps = Steps { progress, done: 0, total: kinds * (1 + 2 * args.verify_pairs as usize) };
    match advice.question.product {
        Product::Postgresql => postgresql::run(&trial, &mut steps),
        Product::Sqlite => sqlite::run(&trial, &mut steps),
        other => {
            Err(CliError::usage(format!("--verify: {other} can't be tried here; postgresql and sqlite can")))
        }
    }
}

/// Measures each workload `pairs` times with both sides. The order within a pair alternates, so that what one run
/// leaves behind is borne by both.
fn contest(
    trial: &Trial<'_>,
    kind: Kind,
    describe: String,
    steps: &mut Steps<'_>,
    mut run: impl FnMut(Side) -> Result<f64, CliError>,
) -> Result<Contest, CliError> {
    let mut contest = Contest::new(describe, kind == Kind::Oltp);
    for pair in 0..trial.pairs {
        let order =
            if pair % 2 == 0 { [Side::Defaults, Side::Advised] } else { [Side::Advised, Side::Defaults] };
        let (mut defaults, mut advised) = (0.0, 0.0);
        for side in order {
            steps.say(&format!("with {}: {}", side.name(), contest.workload));
            let slot = if side == Side::Defaults { &mut defaults } else { &mut advised };
            *slot = run(side)?;
        }
        contest.add([defaults, advised]);
    }
    Ok(contest)
}
