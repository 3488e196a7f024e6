//! The project's programs, as released.

use std::path::Path;
use std::process::Command;

use crate::Outcome;
use crate::bench::cgroup::Group;
use crate::bench::contained;
use crate::command::{build_folder, cargo, succeeds};

/// Builds all programs.
pub(super) fn build() -> Outcome {
    let packages = ["--package", "nandle", "--package", "nandle-tables", "--package", "nandle-sql"];
    if succeeds(&mut cargo(&[&["build", "--release"], &packages[..]].concat()))? {
        Ok(())
    } else {
        Err("building nandle, nandle-tables and nandle-sql failed".into())
    }
}

/// `nandle-tables` with JSON output.
pub(super) fn nandle_tables() -> Command {
    let mut command = program("nandle-tables");
    command.args(["--json", "--no-progress"]);
    command
}

pub(super) fn nandle_sql() -> Command {
    let mut command = program("nandle-sql");
    command.arg("--no-progress");
    command
}

/// Probes reads of the disk under `folder`, optionally inside a group. Writes the profile to a
/// path.
pub(super) fn probe(folder: &Path, budget: &str, group: Option<&Group>, profile: &Path) -> Outcome {
    let mut command = program("nandle");
    command.arg("probe").arg(folder).args(["--only", "reads", "--budget", budget, "--no-progress"]);
    command.arg("--profile").arg(profile).arg("--report").arg(profile.with_extension("html"));
    let ran = contained::run(&command, group, folder)?;
    ran.said.map_err(|why| format!("probing {}: {why}", folder.display()))?;
    Ok(())
}

fn program(name: &str) -> Command {
    Command::new(build_folder().join("release").join(name))
}
