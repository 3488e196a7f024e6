//! The sweep and the probe, each as the command that a user would give.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::Outcome;
use crate::bench::io::{json, nandle_command, nandle_program};

/// Long enough for a steady figure, short enough for some hundred cells.
pub(super) const SECONDS_PER_CELL: u32 = 1;

/// Bandwidth by block size and queue depth.
pub(super) type Cells = BTreeMap<(u64, u32), f64>;

/// An exhaustive sweep of the probe's grid.
pub(super) fn sweep(file: &Path) -> Outcome<Cells> {
    let answer = json(nandle_command(file).args([
        "--block-sizes=2K,4K,8K,16K,32K,64K,128K,256K,512K,1M,2M,4M",
        "--queue-depths=1,2,4,8,16,32,64,128,256",
        &format!("--time-per-run={SECONDS_PER_CELL}s"),
    ]))?;
    let cells = answer.pointer("/cells").and_then(Value::as_array).ok_or("the sweep has no cells")?;
    cells.iter().map(|cell| Ok((place(cell)?, number(cell, "bandwidth_bytes_per_s")?))).collect()
}

/// A probe of a minute; its profile.
pub(super) fn probe(file: &Path, directory: &Path) -> Outcome<Value> {
    let [profile, report] = ["json", "html"].map(|kind| directory.join(format!("bench-probe.{kind}")));
    let mut command = Command::new(nandle_program());
    command.args(["probe", "--json", "--no-progress", "--io=io_uring", "--budget=60s"]).arg(file);
    command.arg("--profile").arg(&profile).arg("--report").arg(&report);
    let answer = json(&mut command);
    for made in [profile, report] {
        let _ = std::fs::remove_file(made);
    }
    answer
}

/// Block size and queue depth of a cell.
pub(super) fn place(cell: &Value) -> Outcome<(u64, u32)> {
    let whole =
        |key: &str| cell.get(key).and_then(Value::as_u64).ok_or_else(|| format!("a cell without {key}"));
    Ok((whole("block_bytes")?, u32::try_from(whole("queue_depth")?)?))
}

pub(super) fn number(value: &Value, key: &str) -> Outcome<f64> {
    value.get(key).and_then(Value::as_f64).ok_or_else(|| format!("no {key}").into())
}
