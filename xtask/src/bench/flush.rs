//! Compares commits with `pg_test_fsync`: the same methods on a file in the same directory, in
//! turns.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::Bench;
use super::io::{build, json, nandle_program};
use super::machine::machine;
use super::results::{Comparison, Results, Runs};
use super::stats::paired;
use crate::{Outcome, output, workspace_root};

pub(super) const BENCH: Bench =
    Bench { name: "flush", about: "commits, beside pg_test_fsync (option: --in DIR)", run };

const PAIRS: usize = 5;
/// Seconds that `pg_test_fsync` spends on each method.
const SECONDS: &str = "2";
/// Time for all of the experiment's methods, of which only some are compared.
const BUDGET: &str = "--budget=60s";

/// Names of each method in both programs, with one write of 8 KiB and with two.
const METHODS: [(&str, &str); 4] = [
    ("open_datasync", "durable_write"),
    ("fdatasync", "fdatasync"),
    ("fsync", "fsync"),
    ("open_sync", "open_sync"),
];
const WRITES: [u64; 2] = [1, 2];

fn run(options: &[String]) -> Outcome {
    let directory = match options {
        [] => workspace_root().join("target"),
        [option, directory] if option == "--in" => directory.into(),
        other => return Err(format!("`flush` takes --in DIR, got {other:?}").into()),
    };
    build()?;
    let (theirs, ours) = paired(PAIRS, || pg_test_fsync(&directory), || nandle(&directory))?;
    let mut comparisons = Vec::new();
    for (index, (task, _)) in tasks().enumerate() {
        let figures = |runs: &[Vec<f64>]| runs.iter().filter_map(|run| run.get(index).copied()).collect();
        let baseline = Runs { name: "pg_test_fsync", figures: figures(&theirs) };
        let candidate = Runs { name: "nandle", figures: figures(&ours) };
        comparisons.push(Comparison::new(&task, "us/commit, mean", baseline, candidate)?);
    }
    let method = format!(
        "Writes of 8 KiB to a file, each commit made durable, {PAIRS} pairs of runs in turns: pg_test_fsync with {SECONDS} s \
         for each method, and `nandle probe --only flush`, whose ways take turns in short slices. Both overwrite a file \
         that was written before; pg_test_fsync one of 16 MiB, nandle one of 32 MiB."
    );
    let results = Results::new(BENCH.name, &method, machine(&directory), comparisons)?;
    output::say(&results.write(&workspace_root().join("benches"))?);
    Ok(())
}

/// Compared tasks: title, method and number of writes.
fn tasks() -> impl Iterator<Item = (String, ((&'static str, &'static str), u64))> {
    let with_methods = |writes: u64| METHODS.into_iter().map(move |method| (method, writes));
    WRITES.into_iter().flat_map(with_methods).map(|(method, writes)| {
        let plural = if writes == 1 { "write" } else { "writes" };
        (format!("{}, {writes} {plural} of 8 KiB", method.0), (method, writes))
    })
}

/// Mean microseconds of a commit, by task.
fn pg_test_fsync(directory: &Path) -> Outcome<Vec<f64>> {
    let file = directory.join(format!("bench-flush-{}", std::process::id()));
    let answer = Command::new(program()?).args(["-s", SECONDS, "-f"]).arg(&file).output();
    let _ = std::fs::remove_file(&file);
    let answer = answer?;
    let text = String::from_utf8_lossy(&answer.stdout).into_owned();
    let figures: Vec<f64> =
        tasks().filter_map(|(_, ((name, _), writes))| usecs(&text, name, writes)).collect();
    if figures.len() == tasks().count() {
        Ok(figures)
    } else {
        Err(format!("pg_test_fsync did not time every method: {text}").into())
    }
}

/// Path of the newest installed version.
fn program() -> Outcome<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql")?.flatten().map(|entry| entry.path());
    let mut programs: Vec<PathBuf> = versions.map(|path| path.join("bin/pg_test_fsync")).collect();
    programs.retain(|path| path.exists());
    programs.sort();
    programs.pop().ok_or_else(|| "pg_test_fsync is not installed (Debian: postgresql)".into())
}

/// Figure of a method in the section for that number of writes.
fn usecs(text: &str, method: &str, writes: u64) -> Option<f64> {
    let title = if writes == 1 { "using one 8kB write" } else { "using two 8kB writes" };
    let section = text.split_once(title)?.1;
    let line = section.lines().find(|line| line.trim_start().split(' ').next() == Some(method))?;
    line.split_once("ops/sec")?.1.split_whitespace().next()?.parse().ok()
}

fn nandle(directory: &Path) -> Outcome<Vec<f64>> {
    let scratch =
        |name: &str| std::env::temp_dir().join(format!("bench-flush-{}-{name}", std::process::id()));
    let (profile, report) = (scratch("profile.json"), scratch("report.html"));
    let mut command = Command::new(nandle_program());
    command.args(["probe", "--json", "--no-progress", "--yes", "--only=flush", "--file-size=64MiB", BUDGET]);
    command.arg("--profile").arg(&profile).arg("--report").arg(&report).arg(directory);
    let answer = json(&mut command);
    for file in [profile, report] {
        let _ = std::fs::remove_file(file);
    }
    let answer = answer?;
    tasks()
        .map(|(task, ((_, method), writes))| mean_us(&answer, method, writes).ok_or(task))
        .collect::<Result<_, _>>()
        .map_err(|task| format!("nandle's answer has no commits for {task}").into())
}

fn mean_us(answer: &Value, method: &str, writes: u64) -> Option<f64> {
    let commits = answer.pointer("/experiments/flush/findings/commits")?.as_array()?;
    let is_it = |commit: &&Value| {
        commit["in_file"] == true
            && commit["method"] == method
            && commit["extent"] == "overwritten"
            && commit["write_bytes"] == 8192
            && commit["writes_per_commit"] == writes
    };
    Some(commits.iter().find(is_it)?.pointer("/latency_ns/mean")?.as_f64()? / 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_those_of_the_section() {
        let text = "Compare file sync methods using one 8kB write:\n        fdatasync     1000.500 ops/sec     999 usecs/op\n\
                    Compare file sync methods using two 8kB writes:\n        fdatasync      500.000 ops/sec    2000 usecs/op\n";
        assert_eq!(usecs(text, "fdatasync", 1), Some(999.0));
        assert_eq!(usecs(text, "fdatasync", 2), Some(2000.0));
        assert_eq!(usecs(text, "fsync", 1), None);
    }
}
