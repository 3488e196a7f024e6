//! Threads that share a store, compared with threads on a bare file: on the disk under this
//! checkout, and in memory.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::bench::results::{Comparison, Runs};
use crate::command::{build_folder, cargo, succeeds};
use crate::{Outcome, output, workspace_root};

pub(super) const METHOD: &str = "Threads that share a `BlockingStore` of 32 768 pages of 4 KiB, beside as many with a bare \
    file as large, in turns of half a second; another one goes first in each round, and the ratios are those within \
    rounds. Reads are of one page anywhere: of a store that was just opened (`reads`), of pages of noise whose checksums it knows \
    (`checked-reads`), or of pages half of noise, which `out-of-place` compresses to half their length and reads as one block of 4 KiB or \
    two (`half-noise-reads`). Commits are of so many pages of noise anywhere, each durable before the next. Bare are, in each thread, `pread`, \
    and one `pwrite` of as many bytes with an `fdatasync`: what a policy that writes in sequence has to be measured by. Bare and \
    scattered is a `pwrite` of each page anywhere and one `fdatasync`: what one that writes pages in place has to be measured by. A \
    staging area of 64 MiB is full after a few hundred milliseconds, so that pages are destaged as fast as they come; one of 2 GiB \
    holds all that is committed in the run, so that nothing is destaged meanwhile.";

const ROUNDS: usize = 7;
const THREADS: [u32; 3] = [1, 4, 32];
/// Kinds of reads with their policies.
const READS: [(&str, &str); 4] = [
    ("reads", "stable-ring"),
    ("checked-reads", "stable-ring"),
    ("checked-reads", "out-of-place"),
    ("half-noise-reads", "out-of-place"),
];
const COMMITTERS: u32 = 16;
const POLICIES: [&str; 5] =
    ["direct", "doublewrite", "stable-buffer:64MiB", "stable-ring:64MiB", "out-of-place"];
/// Bare candidates, in the order of the example's output.
const BASELINES: [&str; 2] = ["bare", "bare, scattered"];
/// Policies with a staging area that holds the whole run.
const ROOMY: [&str; 2] = ["stable-buffer:2GiB", "stable-ring:2GiB"];
const MEMORY: &str = "/dev/shm";

/// A measurement: arguments of the example, name and unit.
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
        comparisons.extend(compare(&folder, "this disk", &task)?);
    }
    for task in reads() {
        comparisons.extend(compare(Path::new(MEMORY), "memory (tmpfs)", &task)?);
    }
    fs::remove_dir_all(folder)?;
    Ok(comparisons)
}

fn reads() -> impl Iterator<Item = Task> {
    let task =
        |(work, policy): (&str, _), threads| Task { work: work.into(), threads, policy, unit: "reads/s" };
    READS.into_iter().flat_map(move |read| THREADS.map(|threads| task(read, threads)))
}

fn commits() -> impl Iterator<Item = Task> {
    let task = |pages, policy| Task {
        work: format!("commits:{pages}"),
        threads: COMMITTERS,
        policy,
        unit: "commits/s",
    };
    let all = [1, 8].into_iter().flat_map(move |pages| POLICIES.map(|policy| task(pages, policy)));
    all.chain(ROOMY.map(|policy| task(8, policy)))
}

/// Compares with each bare candidate.
fn compare(folder: &Path, place: &str, task: &Task) -> Outcome<Vec<Comparison>> {
    let Task { work, threads, policy, unit } = task;
    let name = format!("{work}, {threads} threads, {place}");
    output::say(&format!("{name}, {policy} …"));
    let arguments = [work.as_str(), &threads.to_string(), policy, &ROUNDS.to_string()];
    let ran = Command::new(program()).arg(folder).args(arguments).output()?;
    if !ran.status.success() {
        return Err(format!("{name}, {policy}: {}", String::from_utf8_lossy(&ran.stderr)).into());
    }
    let mut candidates = columns(&String::from_utf8(ran.stdout)?)?;
    let ours = candidates.pop().ok_or_else(|| format!("{name}, {policy}: it said nothing"))?;
    let against = |(baseline, figures)| {
        let ours = Runs { name: policy, figures: ours.clone() };
        Comparison::new(&name, unit, Runs { name: baseline, figures }, ours)
    };
    BASELINES.into_iter().zip(candidates).map(against).collect()
}

fn program() -> PathBuf {
    build_folder().join("release/examples/threads")
}

/// Parses a line per round with a figure per candidate. Returns the figures by candidate.
fn columns(told: &str) -> Outcome<Vec<Vec<f64>>> {
    let mut columns: Vec<Vec<f64>> = Vec::new();
    for line in told.lines() {
        let figures: Vec<f64> = line.split(' ').map(str::parse).collect::<Result<_, _>>()?;
        columns.resize_with(columns.len().max(figures.len()), Vec::new);
        columns.iter_mut().zip(figures).for_each(|(column, figure)| column.push(figure));
    }
    let is_whole = columns.windows(2).all(|pair| matches!(pair, [one, next] if one.len() == next.len()));
    if is_whole { Ok(columns) } else { Err(format!("rounds of different length: {told:?}").into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_candidate_has_its_figure_of_every_round() {
        assert_eq!(columns("1.5 2.0\n3.0 4.5\n").unwrap(), [[1.5, 3.0], [2.0, 4.5]]);
        assert_eq!(columns("1 2 3\n4 5 6\n").unwrap(), [[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]);
        assert!(columns("1.5 2\n1").is_err() && columns("1.5 x").is_err());
    }
}
