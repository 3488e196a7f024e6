//! Contribution of each part of the read side's statistics: probes without the part, compared with
//! the same exhaustive runs.

use std::fs;

use serde::Serialize;

use super::drives::Drive;
use super::question::Answer;
use super::trials::{Score, reading};
use super::truth::{self, Run, Side};
use crate::{Outcome, output, workspace_root};

/// Values of `nandle probe --without`. Combinations show how parts depend on each other.
const PARTS: [&str; 7] =
    ["curve", "kriging", "curve,kriging", "shrinkage", "drift", "pooling", "curve,kriging,shrinkage,drift"];

/// Results without a part, by drive.
#[derive(Debug, Serialize)]
pub(super) struct Row {
    without: String,
    by_drive: Vec<(String, Score)>,
    all: Score,
}

/// Runs each ablation on each drive, and writes the table.
pub(super) fn run(drives: &[&'static Drive], seeds: u64) -> Outcome<String> {
    let recorded = |drive: &&'static Drive| Ok((*drive, truth::recorded(drive, Side::Reads)?));
    let truths: Vec<(&Drive, Vec<Run>)> = drives.iter().map(recorded).collect::<Outcome<_>>()?;
    let mut rows = Vec::new();
    for without in std::iter::once(None).chain(PARTS.map(Some)) {
        output::say(&format!("without {} …", without.unwrap_or("nothing")));
        rows.push(row(&truths, seeds, without)?);
    }
    let folder = workspace_root().join("benches/agreement");
    fs::write(folder.join("ablation.json"), serde_json::to_string_pretty(&rows)? + "\n")?;
    let table = markdown(&rows, seeds);
    fs::write(folder.join("ablation.md"), &table)?;
    Ok(table)
}

fn row(truths: &[(&Drive, Vec<Run>)], seeds: u64, without: Option<&str>) -> Outcome<Row> {
    let mut by_drive = Vec::new();
    let mut all: Vec<Answer> = Vec::new();
    for (drive, truth) in truths {
        let trials =
            (1..=seeds).map(|seed| reading(drive, truth, seed, without)).collect::<Outcome<Vec<_>>>()?;
        by_drive.push((drive.name.to_owned(), Score::of(trials.iter().flatten())));
        all.extend(trials.into_iter().flatten());
    }
    Ok(Row { without: without.unwrap_or("nothing").to_owned(), by_drive, all: Score::of(all.iter()) })
}

fn markdown(rows: &[Row], seeds: u64) -> String {
    let names: Vec<&str> =
        rows.iter().take(1).flat_map(|row| row.by_drive.iter().map(|(name, _)| name.as_str())).collect();
    let percent = |share: f64| format!("{:.1} %", share * 100.0);
    let line = |row: &Row| {
        let drives: Vec<String> = row.by_drive.iter().map(|(_, score)| percent(score.agreement())).collect();
        format!(
            "| {} | {} | {} | {} | {} |",
            row.without.replace(',', ", "),
            drives.join(" | "),
            percent(row.all.agreement()),
            percent(row.all.coverage()),
            percent(row.all.width_median)
        )
    };
    format!(
        "# What each part of the statistics of reading brings\n\nAgreement of `nandle probe --budget 60s --read-only` with \
         exhaustive runs, over {seeds} seeds for each drive, with a part left out. Parameters agree as in the tables beside this \
         one; an interval holds when an exhaustive value lies in it.\n\n| without | {} | all | intervals hold | median width \
         |\n|---|{}--:|--:|--:|\n{}\n\nEvery count: [ablation.json](ablation.json)\n",
        names.join(" | "),
        "--:|".repeat(names.len()),
        rows.iter().map(line).collect::<Vec<_>>().join("\n"),
    )
}
