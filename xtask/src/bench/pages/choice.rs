//! Predicted and actual fastest policy: database traces on modelled drives, in stores that are half
//! full and nearly full.

mod fold;
mod table;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use self::fold::fold;
use self::table::{Row, table};
use super::models::{named_by, record};
use crate::bench::io::json;
use crate::command::{build_folder, cargo, succeeds};
use crate::{Outcome, output, workspace_root};

/// Environment variables that name traces.
const TRACES: [&str; 3] = ["NANDLE_TRACE", "NANDLE_TRACE_REWRITES", "NANDLE_TRACE_PAIRS"];
/// Approximate page writes per pass.
const PAGES: u64 = 16_000;
const PASSES: &str = "5";
const FILLS: [&str; 2] = ["50%", "90%"];
/// Length of a store's pages, small enough that five passes cause cleaning.
const STORE_BYTES: u64 = 192 << 20;
const BUFFER: &str = "24MiB";
/// Experiments that the prediction needs in a profile.
const EXPERIMENTS: &str = "reads,flush,write-patterns,steady-state,smallest-block";

const METHOD: &str = "The first 16 000 page writes of a database's trace, folded into 192 MiB, five times over, on modelled drives, \
    in stores of which so much was written before; 24 MiB to stage in, depth 1, durable where the trace syncs, the final checkpoint \
    included. Predicted: by `nandle advise`'s figures of a ten-minute probe of the drive (`--only \
    reads,flush,write-patterns,steady-state,smallest-block`), with the share of the pages that are alive in the end, pages a write and \
    pages a sync as the trace has them. `loss` is what the chosen policy takes by what the quickest one does; `or` names the policies \
    that the prediction can't tell from the chosen one. Virtual time: every run gives the same figures.";

pub(super) fn run(drives: &[String]) -> Outcome {
    let mut traces = Vec::new();
    for variable in TRACES {
        match named_by(variable)? {
            Some(path) => traces.push(path),
            None => output::say(&format!("choice: {variable} names no trace of a database's page writes")),
        }
    }
    if traces.is_empty() {
        return Ok(());
    }
    // Time is virtual, so a debug build gives the same figures.
    let build = ["build", "--quiet", "--package", "nandle"];
    if !succeeds(&mut cargo(&build))? {
        return Err("the program doesn't build".into());
    }
    let folder = build_folder().join("bench-pages-choice");
    fs::create_dir_all(&folder)?;
    let mut rows = Vec::new();
    let beginnings = traces.iter().map(|trace| folded(trace, &folder)).collect::<Outcome<Vec<_>>>()?;
    let all = library()?;
    if let Some(unknown) = drives.iter().find(|drive| !all.contains(drive)) {
        return Err(format!("the library has {}; got {unknown:?}", all.join(", ")).into());
    }
    for drive in if drives.is_empty() { &all[..] } else { drives } {
        let profile = probe(drive, &folder)?;
        for trace in &beginnings {
            for fill in FILLS {
                output::say(&format!("{drive}, {}, {fill} …", trace.display()));
                rows.push(Row::of(drive, fill, &replay(drive, trace, fill, &profile)?)?);
            }
        }
    }
    if !drives.is_empty() {
        output::say(&table(&rows));
        return Ok(());
    }
    record(
        "choice.md",
        &format!("# Which policy is chosen, and which is the quickest\n\n{METHOD}\n\n{}", table(&rows)),
    )
}

/// All modelled drives.
fn library() -> Outcome<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(workspace_root().join("crates/device/model/drives"))? {
        let path = entry?.path();
        names.extend(path.file_stem().map(|name| name.to_string_lossy().into_owned()));
    }
    names.sort_unstable();
    Ok(names)
}

fn program() -> Command {
    Command::new(build_folder().join("debug/nandle"))
}

/// Start of a trace, folded into few addresses.
fn folded(trace: &Path, folder: &Path) -> Outcome<PathBuf> {
    let name = trace.file_name().unwrap_or_default().to_string_lossy();
    let name = name.split('.').next().unwrap_or_default();
    let whole = folder.join("whole.csv");
    if whole.exists() {
        fs::remove_file(&whole)?;
    }
    json(
        program().args(["trace", "convert", "--json", "--limit", &PAGES.to_string()]).arg(trace).arg(&whole),
    )?;
    let path = folder.join(format!("{name}.csv"));
    fs::write(&path, fold(&fs::read_to_string(&whole)?, STORE_BYTES, PAGES)?)?;
    Ok(path)
}

fn probe(drive: &str, folder: &Path) -> Outcome<PathBuf> {
    let profile = folder.join(format!("{drive}.json"));
    let mut probe = program();
    probe.args(["probe", "--json", "--no-progress", "--only", EXPERIMENTS, "--budget", "10m"]);
    probe.arg("--profile").arg(&profile).arg("--report").arg(folder.join("probe.html"));
    json(probe.arg(format!("model:{drive}")))?;
    Ok(profile)
}

fn replay(drive: &str, trace: &Path, fill: &str, profile: &Path) -> Outcome<Value> {
    let mut replay = program();
    replay.arg("replay").arg(trace).args([
        "--on",
        &format!("model:{drive}"),
        "--fill",
        fill,
        "--passes",
        PASSES,
    ]);
    replay.args(["--buffer", BUFFER, "--json", "--no-verify", "--no-progress"]).arg("--profile").arg(profile);
    json(&mut replay)
}
