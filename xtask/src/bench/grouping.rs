//! Sorted runs of rows: appended as groups of their own, or with fully sequential columns.

use std::fmt::Write as _;
use std::fs;

use serde::Deserialize;

use super::Bench;
use super::example::example;
use crate::command::{cargo, succeeds};
use crate::{Outcome, output, workspace_root};

pub(super) const BENCH: Bench = Bench {
    name: "grouping",
    about: "what appending rows as groups saves, and what it costs scans on an SSD and a disk (options: --rows N)",
    run,
};

const ROWS: &str = "4000000";

#[derive(Deserialize)]
struct Scanned {
    target: String,
    is_grouped: bool,
    runs: u64,
    row_groups: u64,
    written_bytes: u64,
    held_bytes: u64,
    seconds: f64,
    requests: u64,
    read_bytes: u64,
}

fn run(options: &[String]) -> Outcome {
    let rows = match options {
        [] => ROWS,
        [option, rows] if option == "--rows" => rows,
        other => return Err(format!("`grouping` takes --rows N; got {other:?}").into()),
    };
    let build = ["build", "--release", "--package", "nandle-tables", "--example", "grouping"];
    if !succeeds(&mut cargo(&build))? {
        return Err("building the example failed".into());
    }
    let page = page(rows, &example("grouping", &[rows])?)?;
    let kept = workspace_root().join("benches/grouping");
    fs::create_dir_all(&kept)?;
    fs::write(kept.join("latest.md"), &page)?;
    output::say(&page);
    Ok(())
}

fn page(rows: &str, all: &[Scanned]) -> Outcome<String> {
    let mut text = format!(
        "# Grouping\n\n`cargo xtask bench grouping`. {rows} made-up flights of eight columns come in runs of equal length. *Grouped*: each run is appended as row groups of its own. \
         *Sequential*: the table is written anew with each run, so that every column lies in one piece. Bytes written are counted in the files, for each byte that is held in the end. \
         A scan reads three columns, planned by a probe of the modelled drive, in virtual time: every run gives the same figures.\n"
    );
    for of_target in all.chunk_by(|one, other| one.target == other.target) {
        let Some(first) = of_target.first() else { continue };
        let name = first.target.trim_start_matches("model:");
        write!(
            text,
            "\n## {name}\n\n| runs | columns | row groups | written | scan, ms | requests | read, MB |\n|--:|---|--:|--:|--:|--:|--:|\n"
        )?;
        let mut ordered: Vec<&Scanned> = of_target.iter().collect();
        ordered.sort_by_key(|one| one.runs);
        for Scanned {
            is_grouped,
            runs,
            row_groups,
            written_bytes,
            held_bytes,
            seconds,
            requests,
            read_bytes,
            ..
        } in ordered
        {
            let kind = if *is_grouped { "grouped" } else { "sequential" };
            let written = *written_bytes as f64 / *held_bytes as f64;
            let (milliseconds, megabytes) = (seconds * 1e3, *read_bytes as f64 / 1e6);
            writeln!(
                text,
                "| {runs} | {kind} | {row_groups} | {written:.2} × | {milliseconds:.1} | {requests} | {megabytes:.1} |"
            )?;
        }
    }
    Ok(text)
}
