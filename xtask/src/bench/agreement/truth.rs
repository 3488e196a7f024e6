//! Exhaustive runs of a drive, recorded once, as they don't depend on a probe's seed.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::cells::Cells;
use super::drives::Drive;
use super::{reads, writes};
use crate::{Outcome, output, workspace_root};

/// Seeds of exhaustive runs, distinct from those of probes. The spread of the runs bounds what a
/// probe can achieve. Write runs take hours of virtual time.
const READ_SEEDS: [u64; 3] = [1001, 1002, 1003];
const WRITE_SEEDS: [u64; 2] = [1001, 1002];

/// Side of a probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Reads,
    Writes,
}

impl Side {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Reads => "reads",
            Self::Writes => "writes",
        }
    }
}

/// Results of one exhaustive run.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Run {
    seed: u64,
    pub(super) cells: Cells,
    /// Results of one-hour experiments, by path in a profile.
    pub(super) experiments: BTreeMap<String, f64>,
}

/// Reads the drive's recorded runs.
pub(super) fn recorded(drive: &Drive, side: Side) -> Outcome<Vec<Run>> {
    let path = path(drive, side);
    let text = fs::read_to_string(&path).map_err(|error| {
        let shown = path.display();
        format!("{shown}: {error}; `cargo xtask bench agreement --truth=anew {}` records it", drive.name)
    })?;
    Ok(serde_json::from_str(&text)?)
}

/// Runs the drive exhaustively, and records the results.
pub(super) fn record(drive: &Drive, side: Side) -> Outcome {
    let run = |seed: &u64| {
        let seed = *seed;
        output::say(&format!("{}: exhaustive run of {} with seed {seed} …", drive.name, side.name()));
        let (cells, experiments) = match side {
            Side::Reads => (reads::sweep(drive, seed)?, BTreeMap::new()),
            Side::Writes => (writes::sweep(drive, seed)?, writes::experiments(drive, seed)?),
        };
        Ok(Run { seed, cells: Cells(cells), experiments })
    };
    let seeds: &[u64] = match side {
        Side::Reads => &READ_SEEDS,
        Side::Writes => &WRITE_SEEDS,
    };
    let runs: Vec<Run> = seeds.iter().map(run).collect::<Outcome<_>>()?;
    let path = path(drive, side);
    fs::create_dir_all(path.parent().ok_or("a path without a folder")?)?;
    fs::write(path, serde_json::to_string(&runs)?.replace("],[", "],\n[") + "\n")?;
    Ok(())
}

fn path(drive: &Drive, side: Side) -> PathBuf {
    workspace_root().join(format!("benches/agreement/truth/{}-{}.json", drive.name, side.name()))
}
