//! Policies on modelled drives: database traces in virtual time, so the figures are exact.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use serde_json::Value;

use crate::bench::io::{json, nandle_program};
use crate::command::{cargo, succeeds};
use crate::{Outcome, output, workspace_root};

/// Number of writes in the paper.
const WRITES: &str = "488623";
const POLICIES: &str = "direct,doublewrite,stable-buffer,stable-ring,out-of-place,auto";
/// Concurrent cells. Virtual time doesn't depend on the load.
const AT_ONCE: usize = 2;

/// A replay: trace, drive, buffer and depth.
#[derive(Clone, Copy)]
struct Cell {
    trace: Trace,
    target: &'static str,
    buffer: &'static str,
    depth: &'static str,
}

/// A trace, by its environment variable.
#[derive(Clone, Copy, PartialEq)]
enum Trace {
    /// Few rewrites within a small buffer.
    Main,
    /// Many rewrites within it.
    Rewrites,
}

impl Trace {
    const ALL: [Self; 2] = [Self::Main, Self::Rewrites];

    fn variable(self) -> &'static str {
        match self {
            Self::Main => "NANDLE_TRACE",
            Self::Rewrites => "NANDLE_TRACE_REWRITES",
        }
    }
}

const MTRON: &str = "model:mtron-16:capacity=4GiB";

fn cells() -> Vec<Cell> {
    let main = |target, buffer, depth| Cell { trace: Trace::Main, target, buffer, depth };
    let mut cells = Vec::new();
    for buffer in ["8MiB", "64MiB", "128MiB", "256MiB"] {
        cells.push(main(MTRON, buffer, "1"));
    }
    cells.extend(["8MiB", "256MiB"].map(|buffer| main(MTRON, buffer, "32")));
    for target in ["model:sd-card:capacity=4GiB", "model:x25-e-64", "model:barracuda-7200.10"] {
        cells.extend(["8MiB", "128MiB"].map(|buffer| main(target, buffer, "1")));
    }
    for target in ["model:nvme-tlc", "model:nvme-plp"] {
        for depth in ["1", "32"] {
            cells.extend(["8MiB", "128MiB"].map(|buffer| main(target, buffer, depth)));
        }
    }
    cells.push(Cell { trace: Trace::Rewrites, target: MTRON, buffer: "8MiB", depth: "1" });
    cells
}

pub(super) fn run() -> Outcome {
    let mut named = Vec::new();
    for trace in Trace::ALL {
        match named_by(trace.variable())? {
            Some(path) => named.push((trace, path)),
            None => output::say(&format!(
                "models: SKIPPED, {} names no trace of a database's page writes",
                trace.variable()
            )),
        }
    }
    if named.is_empty() {
        return Ok(());
    }
    if !succeeds(&mut cargo(&["build", "--release", "--quiet", "--package", "nandle"]))? {
        return Err("the program doesn't build".into());
    }
    let cells = cells();
    let path_of =
        |cell: &Cell| named.iter().find(|(trace, _)| *trace == cell.trace).map(|(_, path)| path.as_path());
    let work: Vec<(Cell, &Path)> = cells.iter().filter_map(|cell| Some((*cell, path_of(cell)?))).collect();
    let rows = replays(&work)?;
    let table = format!(
        "# The page store on modelled drives\n\nThe first {WRITES} writes of a database's trace, durable at the end, the final \
         checkpoint included. Virtual time: every run gives the same figures.\n\n| trace | drive | buffer | depth | policy | \
         time (s) | × direct | bytes at the device by bytes of pages | flash by bytes of pages | straight home (%) |\n\
         |---|---|--:|--:|---|--:|--:|--:|--:|--:|\n{}\n",
        rows.join("\n")
    );
    record("models.md", &table)
}

/// Writes and prints a table.
pub(super) fn record(name: &str, table: &str) -> Outcome {
    let folder = workspace_root().join("benches/pages");
    fs::create_dir_all(&folder)?;
    fs::write(folder.join(name), table)?;
    output::say(table);
    Ok(())
}

/// Trace that an environment variable names.
pub(super) fn named_by(variable: &str) -> Outcome<Option<PathBuf>> {
    let Some(path) = env::var_os(variable).map(PathBuf::from) else { return Ok(None) };
    if path.exists() {
        return Ok(Some(path));
    }
    Err(format!("there is no {}, which {variable} names", path.display()).into())
}

/// Rows of all cells, in order.
fn replays(work: &[(Cell, &Path)]) -> Outcome<Vec<String>> {
    let next = AtomicUsize::new(0);
    let work_off = || {
        let mut done = Vec::new();
        while let index = next.fetch_add(1, Ordering::Relaxed)
            && let Some((cell, trace)) = work.get(index)
        {
            output::say(&format!("{}, {}, depth {} …", cell.target, cell.buffer, cell.depth));
            done.push((index, rows(*cell, trace).map_err(|error| error.to_string())));
        }
        done
    };
    let mut done = thread::scope(|scope| {
        let threads: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(work_off)).collect();
        let joined = threads.into_iter().map(|thread| thread.join().map_err(|_| "a replay panicked"));
        joined.collect::<Result<Vec<_>, _>>()
    })?
    .concat();
    done.sort_by_key(|(index, _)| *index);
    let rows: Result<Vec<Vec<String>>, String> = done.into_iter().map(|(_, rows)| rows).collect();
    Ok(rows?.concat())
}

/// Rows of one cell. Pages aren't read back at the end, as tests cover that and the figures don't
/// change.
fn rows(cell: Cell, trace: &Path) -> Outcome<Vec<String>> {
    let Cell { target, buffer, depth, .. } = cell;
    let mut replay = Command::new(nandle_program());
    replay.arg("replay").arg(trace).args(["--on", target, "--buffer", buffer, "--queue-depth", depth]);
    replay.args(["--limit", WRITES, "--policies", POLICIES, "--durability", "none", "--json", "--no-verify"]);
    // Earlier tables date from before addresses were compacted.
    replay.args(["--addresses", "keep"]);
    let told = json(&mut replay)?;
    let policies = told.get("policies").and_then(Value::as_array).ok_or("a replay tells of no policies")?;
    Ok(policies.iter().map(|policy| row(cell, trace, policy)).collect())
}

fn row(cell: Cell, trace: &Path, policy: &Value) -> String {
    let figure = |value: &Value| value.as_f64().map_or_else(|| "–".to_owned(), |value| format!("{value:.2}"));
    let seconds = policy["elapsed_ns"].as_f64().map_or(0.0, |elapsed_ns| elapsed_ns / 1e9);
    let name = policy["policy"].as_str().unwrap_or("?");
    let straight = match (policy["pages_straight"].as_f64(), policy["writes"].as_f64()) {
        (Some(straight), Some(writes)) if name == "auto" => format!("{:.1}", 100.0 * straight / writes),
        _ => "–".to_owned(),
    };
    let file = trace.file_name().unwrap_or_default().to_string_lossy();
    format!(
        "| {} | {} | {} | {} | {name} | {seconds:.2} | {} | {} | {} | {straight} |",
        file.split('.').next().unwrap_or_default(),
        cell.target.trim_start_matches("model:"),
        cell.buffer,
        cell.depth,
        figure(&policy["speedup_over_direct"]),
        figure(&policy["write_amplification"]),
        figure(policy.pointer("/drive/flash_bytes_by_page_bytes").unwrap_or(&Value::Null)),
    )
}
