//! Threads that share a store, beside threads with the bare file: on the disk under this checkout, and in memory.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::bench::results::{Comparison, Runs};
use crate::command::{cargo, succeeds};
use crate::{Outcome, output, workspace_root};

pub(super) const METHOD: &str = "Threads that share a `BlockingStore` of 32 768 pages of 4 KiB, beside as many with a bare \
    file as large, in turns of half a second; who goes first changes from round to round, and the ratios are those within \
    rounds. Reads are of one page anywhere: of a store that was just opened (`reads`), or of pages whose checksums it knows \
    (`checked reads`). Commits are of so many pages anywhere, each durable before the next. Bare are `pread`, and one `pwrite` \
    of as many bytes with an `fdatasync`, in each thread.";

const ROUNDS: usize = 7;
const THREADS: [u32; 3] = [1, 4, 32];
const COMMITTERS: u32 = 16;
const POLICIES: [&str; 5] =
    ["direct", "doublewrite", "stable-buffer:64MiB", "stable-ring:64MiB", "out-of-place"];
const MEMORY: &str = "/dev/shm";

/// What is measured in a place: the example's words for it, its name, and the unit.
struct Task {
    work: String,
    threads: u32,
    policy: &'static str,
    unit: &'static str,
}

pub(super) fn comparisons() -> Outcome<Vec<Comparison>> {
    let build = ["build", "--release", "--quiet", "--package", "nandle-pages", "--example", "threads"];
    if !succeeds(&mut cargo(&build))? {
        return Err("the example `threads` doesn't build".into());
    }
    let folder = workspace_root().join("target/bench-pages-threads");
    fs::create_dir_all(&folder)?;
    let mut comparisons = Vec::new();
    for task in reads().chain(commits()) {
        comparisons.push(compare(&folder, "this disk", &task)?);
    }
    for task in reads() {
        comparisons.push(compare(Path::new(MEMORY), "memory (tmpfs)", &task)?);
    }
    fs::remove_dir_all(folder)?;
    Ok(comparisons)
}

fn reads() -> impl Iterator<Item = Task> {
    let task =
        |work: &str, threads| Task { work: work.into(), threads, policy: "stable-ring", unit: "reads/s" };
    ["reads", "checked-reads"].into_iter().flat_map(move |work| THREADS.map(|threads| task(work, threads)))
}

fn commits() -> impl Iterator<Item = Task> {
    let task = |pages, policy| Task {
        work: format!("commits:{pages}"),
        threads: COMMITTERS,
        policy,
        unit: "commits/s",
    };
    [1, 8].into_iter().flat_map(move |pages| POLICIES.map(|policy| task(pages, policy)))
}

fn compare(folder: &Path, place: &str, task: &Task) -> Outcome<Comparison> {
    let Task { work, threads, policy, unit } = task;
    let name = format!("{work}, {threads} threads, {place}");
    output::say(&format!("{name}, {policy} …"));
    let arguments = [work.as_str(), &threads.to_string(), policy, &ROUNDS.to_string()];
    let ran = Command::new(program()).arg(folder).args(arguments).output()?;
    if !ran.status.success() {
        return Err(format!("{name}, {policy}: {}", String::from_utf8_lossy(&ran.stderr)).into());
    }
    let (bare, ours) = pairs(&String::from_utf8(ran.stdout)?)?;
    Comparison::new(&name, unit, Runs { name: "bare", figures: bare }, Runs { name: policy, figures: ours })
}

fn program() -> PathBuf {
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| workspace_root().join("target"), PathBuf::from);
    target.join("release/examples/threads")
}

/// A line for each round, with both figures.
fn pairs(told: &str) -> Outcome<(Vec<f64>, Vec<f64>)> {
    let mut figures = (Vec::new(), Vec::new());
    for line in told.lines() {
        let (bare, ours) = line.split_once(' ').ok_or_else(|| format!("no pair of figures: {line:?}"))?;
        figures.0.push(bare.parse()?);
        figures.1.push(ours.parse()?);
    }
    Ok(figures)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_are_pairs() {
        assert_eq!(pairs("1.5 2.0\n3.0 4.5\n").unwrap(), (vec![1.5, 3.0], vec![2.0, 4.5]));
        assert!(pairs("1.5").is_err() && pairs("1.5 x").is_err());
    }
}
