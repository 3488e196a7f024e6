//! Planned reads: planning time, throughput of the pump, and read strategies compared with their
//! predictions.

mod strategies;

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use serde::Deserialize;

use super::Bench;
use super::example::example;
use super::machine::machine;
use crate::command::{cargo, succeeds};
use crate::{Outcome, output, workspace_root};

pub(super) const BENCH: Bench = Bench {
    name: "reads",
    about: "planning of reads, the pump, and the ways of reading on a disk and on modelled devices (options: --in DIR)",
    run,
};

const MODELS: [&str; 5] =
    ["model:x25-m-g2", "model:crucial-m4-256", "model:nvme-tlc", "model:wd2003fyys", "model:regola-raid10"];

fn run(options: &[String]) -> Outcome {
    let folder = match options {
        [] => workspace_root().join("target"),
        [option, path] if option == "--in" => PathBuf::from(path),
        other => return Err(format!("`reads` takes --in DIR; got {other:?}").into()),
    };
    fs::create_dir_all(&folder)?;
    let examples =
        ["build", "--release", "--package", "nandle-reads", "--package", "nandle-predict", "--examples"];
    if !succeeds(&mut cargo(&examples))? {
        return Err("building the examples failed".into());
    }
    let here = folder.to_string_lossy().into_owned();
    let mut page = format!(
        "# Planned reads\n\n`cargo xtask bench reads`. {}\n\nModelled devices are in virtual time: every run gives the same figures. `here` is the real disk, \
         medians of runs in turns.\n",
        machine(&folder).sentence()
    );
    page += &planning()?;
    page += &pumps(&here)?;
    for target in MODELS.into_iter().chain([here.as_str()]) {
        output::say(target);
        page += &strategies::section(title(target), &example::<strategies::Run>("strategies", &[target])?)?;
    }
    page += &break_even()?;
    let kept = workspace_root().join("benches/reads");
    fs::create_dir_all(&kept)?;
    fs::write(kept.join("latest.md"), &page)?;
    output::say(&page);
    Ok(())
}

#[derive(Deserialize)]
struct BreakEven {
    scan_seconds: f64,
    predicted_rows: f64,
    measured_rows: f64,
}

fn break_even() -> Outcome<String> {
    let mut text = "\n## Fetching rows by their numbers against a scan\n\nOf 100 million rows of 100 bytes: so many can be fetched in any order, each from a page of 8 KiB \
        of its own and 32 outstanding, in the time of a scan.\n\n| device | scan, s | predicted, rows | measured, rows |\n|---|--:|--:|--:|\n"
        .to_owned();
    let mut measured = Vec::new();
    for target in ["model:wd2003fyys", "model:crucial-m4-256"] {
        for BreakEven { scan_seconds, predicted_rows, measured_rows } in
            example::<BreakEven>("break_even", &[target])?
        {
            let device = title(target);
            writeln!(text, "| {device} | {scan_seconds:.1} | {predicted_rows:.0} | {measured_rows:.0} |")?;
            measured.push(measured_rows);
        }
    }
    let [disk, flash] = measured.as_slice() else { return Err("each device has one break-even".into()) };
    writeln!(text, "\nThey are {:.0} times apart.", flash / disk)?;
    Ok(text)
}

/// Title of a target. Paths are omitted, as they mean nothing elsewhere.
fn title(target: &str) -> &str {
    target.strip_prefix("model:").unwrap_or("here")
}

#[derive(Deserialize)]
struct Planned {
    device: String,
    page_bytes: u64,
    one_in: u64,
    milliseconds: f64,
}

fn planning() -> Outcome<String> {
    let mut text = "\n## Planning 200 000 wants, ms\n\n| costs of a | pages | every | one in 2 | one in 10 | one in 100 | one in 1000 |\n|---|---|--:|--:|--:|--:|--:|\n".to_owned();
    let planned: Vec<Planned> = example("planning", &[])?;
    for row in
        planned.chunk_by(|one, other| (&one.device, one.page_bytes) == (&other.device, other.page_bytes))
    {
        let Some(first) = row.first() else { continue };
        write!(text, "| {} | {} KiB |", first.device, first.page_bytes >> 10)?;
        debug_assert!(row.is_sorted_by_key(|cell| cell.one_in), "shares ascend");
        for cell in row {
            write!(text, " {:.1} |", cell.milliseconds)?;
        }
        text.push('\n');
    }
    Ok(text)
}

#[derive(Deserialize)]
struct Pumped {
    request_bytes: u64,
    depth: u32,
    bare_seconds: f64,
    scan: f64,
    owner: f64,
}

fn pumps(here: &str) -> Outcome<String> {
    let mut text = "\n## The pump beside a bare loop\n\nThe same random requests, as many outstanding: what a loop that does nothing else takes by what a scan takes, in the consumer's own thread and \
        through an owner's, which copies what it hands out.\n\n| device | requests | depth | bare loop, s | scan | owner |\n|---|---|--:|--:|--:|--:|\n"
        .to_owned();
    for target in ["model:nvme-tlc", "model:x25-m-g2", "model:wd2003fyys", here] {
        let requests = if target == "model:wd2003fyys" { "1000" } else { "20000" };
        for row in example::<Pumped>("pump", &[target, "1073741824", requests])? {
            let Pumped { request_bytes, depth, bare_seconds, scan, owner } = row;
            let device = title(target);
            writeln!(
                text,
                "| {device} | {} KiB | {depth} | {bare_seconds:.3} | {scan:.2} | {owner:.2} |",
                request_bytes >> 10
            )?;
        }
    }
    Ok(text)
}
