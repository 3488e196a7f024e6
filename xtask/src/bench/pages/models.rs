//! The policies on modelled drives: a database's trace in virtual time, so the figures are exact.

use std::env;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use crate::bench::io::{json, nandle_program};
use crate::command::{cargo, succeeds};
use crate::{Outcome, output, workspace_root};

/// The paper's count of writes.
const WRITES: &str = "488623";
const POLICIES: &str = "direct,doublewrite,stable-buffer,stable-ring,out-of-place";

/// Drive, buffer, depth.
const CELLS: [(&str, &str, &str); 14] = [
    ("model:mtron-16:capacity=4GiB", "8MiB", "1"),
    ("model:mtron-16:capacity=4GiB", "64MiB", "1"),
    ("model:mtron-16:capacity=4GiB", "128MiB", "1"),
    ("model:mtron-16:capacity=4GiB", "256MiB", "1"),
    ("model:mtron-16:capacity=4GiB", "8MiB", "32"),
    ("model:mtron-16:capacity=4GiB", "256MiB", "32"),
    ("model:sd-card", "8MiB", "1"),
    ("model:sd-card", "128MiB", "1"),
    ("model:x25-e-64", "8MiB", "1"),
    ("model:x25-e-64", "128MiB", "1"),
    ("model:barracuda-7200.10", "8MiB", "1"),
    ("model:barracuda-7200.10", "128MiB", "1"),
    ("model:nvme-tlc", "128MiB", "32"),
    ("model:nvme-plp", "128MiB", "32"),
];

pub(super) fn run() -> Outcome {
    let Some(trace) = env::var_os("NANDLE_TRACE").map(PathBuf::from) else {
        output::say("models: SKIPPED, NANDLE_TRACE names no trace of a database's page writes");
        return Ok(());
    };
    if !trace.exists() {
        return Err(format!("there is no {}, which NANDLE_TRACE names", trace.display()).into());
    }
    if !succeeds(&mut cargo(&["build", "--release", "--quiet", "--package", "nandle"]))? {
        return Err("the program doesn't build".into());
    }
    let mut rows = Vec::new();
    for (target, buffer, depth) in CELLS {
        output::say(&format!("{target}, {buffer}, depth {depth} …"));
        let mut replay = Command::new(nandle_program());
        replay.arg("replay").arg(&trace).args(["--on", target, "--buffer", buffer, "--queue-depth", depth]);
        replay.args(["--limit", WRITES, "--policies", POLICIES, "--durability", "none", "--json"]);
        let told = json(&mut replay)?;
        let policies =
            told.get("policies").and_then(Value::as_array).ok_or("a replay tells of no policies")?;
        rows.extend(policies.iter().map(|policy| row(target, buffer, depth, policy)));
    }
    let table = format!(
        "# The page store on modelled drives\n\nThe first {WRITES} writes of a database's trace ({}), durable at the end, the \
         final checkpoint included. Virtual time: every run gives the same figures.\n\n| drive | buffer | depth | policy | \
         time (s) | × direct | bytes at the device by bytes of pages | flash by bytes of pages |\n|---|--:|--:|---|--:|--:|--:|--:|\n{}\n",
        trace.file_name().unwrap_or_default().to_string_lossy(),
        rows.join("\n")
    );
    let folder = workspace_root().join("benches/pages");
    fs::create_dir_all(&folder)?;
    fs::write(folder.join("models.md"), &table)?;
    output::say(&table);
    Ok(())
}

fn row(target: &str, buffer: &str, depth: &str, policy: &Value) -> String {
    let figure = |value: &Value| value.as_f64().map_or_else(|| "–".to_owned(), |value| format!("{value:.2}"));
    let seconds = policy["elapsed_ns"].as_f64().map_or(0.0, |elapsed_ns| elapsed_ns / 1e9);
    format!(
        "| {} | {buffer} | {depth} | {} | {seconds:.2} | {} | {} | {} |",
        target.trim_start_matches("model:"),
        policy["policy"].as_str().unwrap_or("?"),
        figure(&policy["speedup_over_direct"]),
        figure(&policy["write_amplification"]),
        figure(policy.pointer("/drive/flash_bytes_by_page_bytes").unwrap_or(&Value::Null)),
    )
}
