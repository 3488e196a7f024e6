//! Paired runs, shared by the trials of all products.

use std::path::Path;

use nandle_advise::settings::{Advice, Workload};
use nandle_session::{Cancel, Observer as _};
use nandle_terminal::progress::Bar;

use super::contest::Contest;
use crate::error::CliError;

/// Settings under which a workload runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// The product's defaults.
    Defaults,
    /// The advised settings.
    Advised,
}

impl Side {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Defaults => "the defaults",
            Self::Advised => "the advice",
        }
    }
}

/// Workload that runs under both sides' settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Short transactions that commit.
    Oltp,
    /// Scans and index look-ups of uncached data.
    Olap,
}

impl Kind {
    /// Runs that represent a workload.
    pub(super) fn of(workload: Workload) -> &'static [Self] {
        match workload {
            Workload::Oltp => &[Self::Oltp],
            Workload::Olap => &[Self::Olap],
            Workload::Mixed => &[Self::Oltp, Self::Olap],
        }
    }
}

/// Inputs of a verification.
pub(super) struct Trial<'a> {
    pub(super) directory: &'a Path,
    pub(super) advice: &'a Advice,
    pub(super) data_bytes: u64,
    pub(super) pairs: u32,
    pub(super) cancel: Cancel,
}

/// Reports the current step and the total number of steps.
pub(super) struct Steps<'a> {
    pub(super) progress: &'a mut Bar,
    pub(super) done: usize,
    pub(super) total: usize,
}

impl Steps<'_> {
    pub(super) fn say(&mut self, doing: &str) {
        self.progress.progress(doing, self.done as f64 / self.total as f64);
        self.done += 1;
    }
}

/// Measures each workload `pairs` times on both sides. The order within a pair alternates, so that
/// both sides bear the aftermath of the other.
pub(super) fn contest(
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
