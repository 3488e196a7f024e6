//! `--verify`: alternates a fixed workload between a product's defaults and the advice, on this
//! machine.

mod args;
mod child;
mod cold;
mod contest;
mod pairs;
mod place;
mod postgresql;
mod sqlite;

use std::path::Path;

use nandle_advise::Product;
use nandle_advise::settings::Advice;
use nandle_session::Cancel;
use nandle_terminal::progress::Bar;

pub(super) use args::TrialArgs;
pub(super) use contest::{Contest, Outcome, median};
pub(super) use postgresql::installed_version;

use self::pairs::{Kind, Steps, Trial};
use crate::error::CliError;

/// Runs the workloads in `directory` and removes everything afterwards.
pub(super) fn verify(
    args: &TrialArgs,
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
